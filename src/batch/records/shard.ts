/**
 * The shards of a batch: several machines share its inputs. Which shard an input belongs to follows from its name alone,
 * so that it stays the same when other inputs come or go. Pure.
 */
import { hash } from 'node:crypto';
import { usageFailure } from '../../base/failure.ts';
import { wholeName } from './item-key.ts';

export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

/** Far more machines than share one service, and few enough to list those that are missing. */
const MOST_SHARDS = 1000;

/**
 * Reads the value of --shard.
 * @throws Failure of category usage; nothing was sent yet
 */
export function readShard(written: string | undefined): Shard | undefined {
  if (written === undefined) return undefined;
  const [, index = '', count = ''] = /^([0-9]{1,4})\/([0-9]{1,4})$/.exec(written) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  if (shard.index >= 1 && shard.index <= shard.count && shard.count <= MOST_SHARDS) return shard;
  throw usageFailure(
    'USAGE',
    `--shard must be i/n, such as 2/3 for the second of three, not ${JSON.stringify(written)}`,
    `i is a number from 1 to n, and n is at most ${MOST_SHARDS}. Nothing was sent.`,
  );
}

/** As --shard takes it. */
export function writeShard({ index, count }: Shard): string {
  return `${index}/${count}`;
}

/** The number that decides is read from so many hexadecimal digits: 48 bits are exact in a double. */
const DIGITS = 12;

/**
 * The shard of an input, from 1 to `count`.
 * @param name below its root, as in `JobInput`: the same on all machines, but for separators and the form of accents
 */
export function shardOf(name: string, count: number): number {
  // A sample belongs to the shard of its video.
  const same = wholeName(name).normalize('NFC').replaceAll('\\', '/');
  return (Number.parseInt(hash('sha256', same).slice(0, DIGITS), 16) % count) + 1;
}

/** Whether an input belongs to a shard; each belongs to a run without one. */
export function isInShard(name: string, shard: Shard | undefined): boolean {
  return shard === undefined || shardOf(name, shard.count) === shard.index;
}
