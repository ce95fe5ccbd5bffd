/** How people name an upload. */

/** 8-4-4-4-12 hexadecimal digits: no file and no folder is called so by a person. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `uploads/ID`, with or without the version before it; eight characters with a digit, as no folder of lessons is called. */
const WITH_COLLECTION = /^(?:\/v1\/)?uploads\/((?=\D*\d)[\w-]{8,})$/;

/**
 * The id of an upload, by the text alone: `upl_…`, a UUID, since a hosted service makes ids as it likes, or `uploads/ID`
 * and the detail_url for ids of other forms. Null for everything else. Source: contract, "Identifiers".
 */
export function uploadIdOf(operand: string): string | null {
  if (/^upl_[a-z0-9]+$/i.test(operand) || UUID.test(operand)) return operand;
  return WITH_COLLECTION.exec(operand)?.[1] ?? null;
}
