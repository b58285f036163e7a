import { settings } from '/work/h/speed/bench/peer.ts'
import { cleanEnvironment } from '/work/h/speed/test/e2e/environment.ts'
import { Talk } from '/work/h/speed/bench/talk.ts'
import { spawn } from 'node:child_process'
const home=process.argv[2]!
for(let i=0;i<3;i++){
const c=spawn('strace',['-f','-r','-tt','-e','trace=clone3,clone,openat,write,read','-s','50','-o','/tmp/speed/cold.'+i,process.execPath,'/work/h/speed/bin/parley.mjs','acp','--embedded'],{cwd:'/',env:{...cleanEnvironment(),...settings(home),PARLEY_AGENT:'guide'} as any,stdio:['pipe','pipe','ignore']})
const t=new Talk(c.stdout,c.stdin);await t.initialize();const a=await t.request('session/list',{});console.log(a.ms.toFixed(0));c.kill('SIGKILL')}
for(let i=0;i<3;i++){
const c=spawn(process.execPath,['--cpu-prof','--cpu-prof-interval','200','--cpu-prof-dir','/tmp/speed/cprof','/work/h/speed/bin/parley.mjs','acp','--embedded'],{cwd:'/',env:{...cleanEnvironment(),...settings(home),PARLEY_AGENT:'guide'} as any,stdio:['pipe','pipe','ignore']})
const t=new Talk(c.stdout,c.stdin);const b=performance.now();await t.initialize();const k=performance.now()-b;const a=await t.request('session/list',{});console.log('init',k.toFixed(0),'list',a.ms.toFixed(0));c.stdin.end();await new Promise(r=>c.on('exit',r))}
process.exit(0)
