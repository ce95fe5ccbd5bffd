/** A service whose jobs never end, in a process of its own that a test can kill. Its argument is the state folder. */
import { createService } from '../../../src/service/index.ts';
import { createSmallEngines } from './small-engines.ts';

const engines = createSmallEngines();
engines.hold();
const [, , stateDir = ''] = process.argv;
const service = await createService({ stateDir, engines });
process.stdout.write(`${JSON.stringify({ url: service.url, credentials: (await service.keys())[0] })}\n`);
