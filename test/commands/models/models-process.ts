/** `vloc models` in a process of its own, which can be killed. Arguments: the file of its catalogue, then those of vloc. */
import { readFileSync } from 'node:fs';
import { runMain } from '../../support/run-main.ts';

const [catalog = '', ...words] = process.argv.slice(2);
const modelCatalog: unknown = JSON.parse(readFileSync(catalog, 'utf8'));
const { env, stdout, stderr } = process;
const { code } = await runMain(words, { env, stdout, stderr, modelCatalog });
process.exit(code);
