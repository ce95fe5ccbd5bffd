/** A service whose jobs never end, in a process of its own that a test can kill. The state folder is its argument. */
import { createService } from '../../../src/service/index.ts';
import { createSmallEngines } from './small-engines.ts';

const engines = createSmallEngines();
engines.hold();
const service = await createService({ stateDir: process.argv[2] ?? '', engines });
process.stdout.write(`${JSON.stringify({ url: service.url, credentials: (await service.keys())[0] })}\n`);
