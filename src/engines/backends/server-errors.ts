/** Translates error responses of servers into failures. */
import * as v from 'valibot';

/** Longer messages are shortened further where they are shown, after keys were removed. */
const MAX_TEXT = 3_000;
const Text = v.nullish(v.unknown());
const ErrorBody = v.object({ error: Text, message: Text, detail: Text, code: Text });

/** Returns whether a text is HTML: the answer of a proxy or a login, not of an engine. */
export function isWebPage(text: string): boolean {
  return /^\s*<(!doctype|html)/i.test(text);
}

/** Returns a server's message in one of the usual forms, without control characters, and its code of the error. `isNamed`: it was in such a form. */
export function readError(text: string): { said: string; code: string; isNamed: boolean } {
  const fallback = { said: isWebPage(text) ? 'a web page' : plain(text), code: '', isNamed: false };
  try {
    const body = v.parse(ErrorBody, JSON.parse(text));
    const inner = v.is(ErrorBody, body.error) ? body.error : body;
    const said = [inner.message, body.error, body.detail, body.message].find((value) => value != null);
    if (said === undefined) return fallback;
    const { type } = v.parse(v.object({ type: Text }), inner);
    const shown = plain(typeof said === 'string' ? said : JSON.stringify(said));
    return { said: shown, code: `${inner.code ?? ''} ${type ?? ''}`, isNamed: true };
  } catch {
    return fallback;
  }
}

function plain(text: string): string {
  return text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT);
}
