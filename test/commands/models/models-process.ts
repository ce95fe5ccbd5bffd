/** `vloc models` in a process of its own, which can be killed. Arguments: the file of its catalogue, then those of vloc. */
import { readFileSync } from 'node:fs';
import { main } from '../../../src/cli/main.ts';
import { createTestIo } from '../../support/test-io.ts';

const [catalog = '', ...words] = process.argv.slice(2);
const { io } = createTestIo({ env: process.env as Record<string, string> }); // values of the environment are never undefined
const modelCatalog: unknown = JSON.parse(readFileSync(catalog, 'utf8'));
process.exit(await main(words, { ...io, stdout: process.stdout, stderr: process.stderr, modelCatalog }));
