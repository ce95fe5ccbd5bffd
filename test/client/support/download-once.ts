/** One download in a process of its own, whose limits a test can set: arguments base URL, asset as JSON, target. */
import { createClient, Failure } from '../../../src/client/index.ts';

const [baseUrl = '', asset = '', to = ''] = process.argv.slice(2);
const client = createClient({ baseUrl, key: 'key', secret: 'secret' });
try {
  await client.download(JSON.parse(asset), { to });
} catch (error) {
  process.stdout.write(JSON.stringify(error instanceof Failure ? error.facts : { other: String(error) }));
}
await client.close();
