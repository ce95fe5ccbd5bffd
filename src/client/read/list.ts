import type { ListPage } from '../../protocol/resources.ts';
import { asText, member, missingField, needObject, type Origin } from './record.ts';

/**
 * The list envelope; a page that says there is more must say where it begins. Source: specification, "List envelope".
 * @param readItem reads one entry of `data`
 */
export function readList<Item>(
  body: unknown,
  requestId: string | null,
  readItem: (item: unknown, requestId: string | null) => Item,
): ListPage<Item> {
  const origin: Origin = { subject: 'the list', requestId };
  const object = needObject(origin, body);
  const data = member(object, 'data');
  if (!Array.isArray(data)) throw missingField(origin, 'data', data);
  const cursor = asText(member(object, 'next_cursor'));
  if (member(object, 'has_more') === true && cursor === null) throw missingField(origin, 'next_cursor');
  return {
    object: 'list',
    data: data.map((item) => readItem(item, requestId)),
    has_more: member(object, 'has_more') !== false && cursor !== null,
    next_cursor: cursor,
  };
}
