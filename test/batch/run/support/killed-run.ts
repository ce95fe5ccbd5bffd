/**
 * A run in a process of its own that ends itself, as a power cut would, at the point that its argument names. Argument:
 * JSON of `KilledRun`.
 */
import { createClient } from '../../../../src/client/index.ts';
import { linesItem, videoItem } from './items.ts';
import type { KilledRun } from './kill-points.ts';
import { runInFolder } from './run-in-folder.ts';
import { unopenedBatch } from './unopened-batch.ts';

const { baseUrl, credentials, stateDir, out, video, lines, point }: KilledRun = JSON.parse(
  process.argv[2] ?? '',
);

const die = () => process.kill(process.pid, 'SIGKILL');
const items = [
  ...(video === null ? [] : [videoItem(video, 'es'), videoItem(video, 'fr')]),
  ...Array.from({ length: lines }, (_, index) => linesItem(index)),
];
const batch = unopenedBatch({ baseUrl, credentials, stateDir, out, items });

let seen = 0;
const client = createClient({
  baseUrl,
  ...credentials,
  runtime: batch.runtime,
  onEvent: (event) => {
    if (point.at !== 'request' && point.at !== 'response') return;
    if (event.type !== point.at || event.method !== point.method) return;
    if (!new RegExp(point.path).test(new URL(event.url).pathname)) return;
    seen += 1;
    if (seen === (point.time ?? 1)) die();
  },
});

/** Dies after the write of a record of the profile, which follows the write to the journal of the folder. */
function dieBehind<Record extends object>(record: Record): Record {
  return new Proxy(record, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (point.at !== 'record' || name !== point.call || typeof member !== 'function') return member;
      return async (...values: readonly unknown[]) => {
        await Reflect.apply(member, target, values);
        die();
      };
    },
  });
}

const { jobs, uploads } = batch.records;
await runInFolder({
  ...batch,
  connection: { client, everyMs: 10, isFree: false, readProvenance: async () => null },
  records: { jobs: dieBehind(jobs), uploads: dieBehind(uploads) },
});
await client.close();
process.stdout.write('ended\n');
