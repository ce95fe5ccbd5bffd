/**
 * A service whose jobs never end, in a process of its own that a test can kill. Its arguments are the state folder and JSON of other
 * options.
 */
import { createService } from '../../../src/service/index.ts';
import { createSmallEngines } from './small-engines.ts';

const engines = createSmallEngines();
engines.hold();
const [, , stateDir = '', options = '{}'] = process.argv;
const service = await createService({ stateDir, engines, ...JSON.parse(options) });
process.stdout.write(`${JSON.stringify({ url: service.url, credentials: (await service.keys())[0] })}\n`);
