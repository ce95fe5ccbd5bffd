/** A process that adds profiles: folder, prefix of the names, how many. */
import { openProfileStore } from '../../../src/profiles/store.ts';

const [folder = '', prefix = '', count = '0'] = process.argv.slice(2);
process.umask(0);
const store = openProfileStore(folder, (text) => process.stderr.write(`${text}\n`));
const names = Array.from({ length: Number(count) }, (_, index) => `${prefix}-${index}`);
for (const name of names) {
  await store.change((document) => ({
    ...document,
    profiles: [
      ...document.profiles,
      { name, base_url: 'https://a.example/v1', key: 'k', secret: { type: 'file', value: 's' } },
    ],
  }));
}
