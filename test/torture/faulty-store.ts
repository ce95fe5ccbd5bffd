/**
 * Faults below the store: some statements fail before SQLite carries them out, as many after. The second kind is what a
 * caller sees of a time-out: it was done, and nobody can tell.
 */
import { DatabaseSync } from 'node:sqlite';
import type { Random } from './random.ts';

/** SQLITE_BUSY and SQLITE_IOERR. */
const CODES = [5, 10];

/** From now on every statement of this process fails with that chance in either way. */
export function breakStore(random: Random, share: number): void {
  const methods = Object.getPrototypeOf(new DatabaseSync(':memory:').prepare('SELECT 1'));
  const fault = () =>
    Object.assign(new Error('scripted fault'), { code: 'ERR_SQLITE_ERROR', errcode: random.pick(CODES) });
  for (const name of ['get', 'all', 'run']) {
    const carryOut = methods[name];
    methods[name] = function (this: { sourceSQL: string }, ...values: unknown[]) {
      // Giving up a transaction only forgets pages; SQLite has no way to fail in it.
      const exempt = this.sourceSQL === 'ROLLBACK';
      if (!exempt && random.chance(share)) throw fault();
      const result = Reflect.apply(carryOut, this, values);
      if (!exempt && random.chance(share)) throw fault();
      return result;
    };
  }
}
