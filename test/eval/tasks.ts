/** The twenty tasks. */
import { reading } from './reading.ts'
import { refusing } from './refusing.ts'
import type { Task } from './task.ts'
import { writing } from './writing.ts'

export const tasks: readonly Task[] = [...reading, ...writing, ...refusing]
