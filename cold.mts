import { Peer, settings } from '/work/h/speed/bench/peer.ts'
import { startModel } from '/work/h/speed/bench/model-peer.ts'
import { mkdtempSync } from 'node:fs'
const roots=process.argv.slice(2)
const model=await startModel('/tmp/speed',[{text:'ok'}])
const home=mkdtempSync('/tmp/speed/c-'); const env={...settings(home),...model.environment}
const mk=(r:string)=>new Peer([r+'/bin/parley.mjs','acp','--embedded'],env)
{const p=mk(roots[0]!);await p.initialize();const s=await p.newSession('/tmp/speed');for(let i=0;i<50;i++)await p.prompt(s);await p.close()}
const got:Record<string,{i:number[],l:number[],c:number[]}>={}
for(let i=0;i<13;i++)for(const r of i%2?roots:[...roots].reverse()){const g=got[r]??={i:[],l:[],c:[]};const b=performance.now();const p=mk(r);await p.initialize();g.i.push(performance.now()-b);const a=await p.request('session/list',{});g.l.push(a.ms);await p.kill()}
const m=(a:number[])=>a.slice(2).sort((x,y)=>x-y);for(const r of roots){const g=got[r]!;console.log(r.split('/').pop(),'init p50',m(g.i)[5]!.toFixed(1),'list p50',m(g.l)[5]!.toFixed(1),'min',m(g.l)[0]!.toFixed(1))}
await model.close();process.exit(0)
