/** `npm run bench [NAME…]`: measures, prints the rows of bench/README.md, and fails if a limit is exceeded. */
import { measureBatch } from './batch.ts';
import { measureClaims } from './claims.ts';
import { measureColdStart } from './cold-start.ts';
import { measureEngines } from './engines.ts';
import { type Figure, figureRow, keepsLimit } from './figure.ts';
import { measureLanguages } from './languages.ts';
import { measureLoad } from './load.ts';
import { measureLongTalk } from './long-talk.ts';
import { measureLongVideo } from './long-video.ts';
import { measureManyVideos } from './many-videos.ts';
import { measureOneVideo } from './one-video.ts';
import { measureOverhead } from './overhead.ts';
import { measureReport } from './report.ts';
import { measureRequests } from './requests.ts';
import { measureScale } from './scale.ts';
import { measureSplit } from './split.ts';
import { measureStartup } from './startup.ts';
import { measureTransfer } from './transfer.ts';
import { measureUploadMemory } from './upload-memory.ts';
import { measureWaiting } from './waiting.ts';

const BENCHES: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  startup: measureStartup,
  'upload-memory': measureUploadMemory,
  overhead: measureOverhead,
  languages: measureLanguages,
  'one-video': measureOneVideo,
  'long-video': measureLongVideo,
  split: measureSplit,
  'long-talk': measureLongTalk,
  'cold-start': measureColdStart,
  requests: measureRequests,
  load: measureLoad,
  scale: measureScale,
  claims: measureClaims,
  transfer: measureTransfer,
  waiting: measureWaiting,
  batch: measureBatch,
  'many-videos': measureManyVideos,
  engines: measureEngines,
  report: measureReport,
};

/** It keeps two cores busy for an hour. */
const ONLY_BY_NAME = 'long-talk';

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0)
  throw new Error(`no bench "${unknown.join(', ')}"; there are ${Object.keys(BENCHES).join(', ')}`);

process.stdout.write('| figure | measured | limit |\n| --- | --- | --- |\n');
for (const [name, measure] of Object.entries(BENCHES)) {
  const isMeant = asked.length > 0 ? asked.includes(name) : name !== ONLY_BY_NAME;
  if (!isMeant) continue;
  for (const figure of await measure()) {
    process.stdout.write(`${figureRow(figure)}\n`);
    if (!keepsLimit(figure)) process.exitCode = 1;
  }
}
