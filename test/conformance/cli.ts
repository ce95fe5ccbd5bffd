/** `node test/conformance/cli.ts`: checks any service against the rules. */
import { main } from './cli/main.ts';

process.exitCode = await main(process.argv.slice(2), process.env, {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
