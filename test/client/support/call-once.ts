/** One signed call in a process of its own, so that a test can set its environment: argument, the options as JSON. */
import { createClient, Failure } from '../../../src/client/index.ts';

const client = createClient(JSON.parse(process.argv[2] ?? ''));
try {
  const { status, body } = await client.send({ method: 'GET', path: '/credits' });
  process.stdout.write(JSON.stringify({ status, body }));
} catch (error) {
  process.stdout.write(JSON.stringify(error instanceof Failure ? error.facts : { other: String(error) }));
}
await client.close();
