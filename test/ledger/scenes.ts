/** Every way of running, each in a scene of a few commands. */
import type { Scene } from './desk.ts';
import { AGAIN } from './scenes/again.ts';
import { KILLED } from './scenes/killed.ts';
import { PLAIN } from './scenes/plain.ts';
import { STAGED } from './scenes/stages.ts';

export const SCENES: readonly Scene[] = [...PLAIN, ...AGAIN, ...STAGED, ...KILLED];
