import { expect, it } from 'vitest';
import { createItemFacts } from '../../../src/batch/records/item-facts.ts';
import { createFolder, plan } from '../plan/support.ts';
import { recordsOf } from './support/records-of.ts';

const SHA = 'a'.repeat(64);

async function planOne() {
  const options = { callbackUrl: 'https://example.com/hook?token=s3cret' };
  const { planned } = await plan(createFolder({}), ['upl_1'], { options });
  const [first] = planned;
  if (first === undefined) throw new Error('there is no item');
  return first.item;
}

it('facts are read from a log as they were written, without secrets', async () => {
  const written = createItemFacts(await planOne(), SHA);
  expect(JSON.stringify(written)).not.toContain('s3cret');
  expect([...recordsOf([written]).facts.values()]).toEqual([written]);
  expect(written).toMatchObject({ label: 'upl_1 → ca', path: null, size: null, sha256: SHA });
});

it('the newest facts of an item are used', async () => {
  const item = await planOne();
  const { facts } = recordsOf([createItemFacts(item), createItemFacts(item, SHA)]);
  expect([...facts.values()].map(({ sha256 }) => sha256)).toEqual([SHA]);
});
