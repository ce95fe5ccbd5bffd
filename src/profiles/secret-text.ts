/** Secrets as they are typed, piped and printed. */

/** The secret without the line break at its end; null when it is empty, or has a control character or a space around it. */
export function cleanSecret(text: string): string | null {
  const secret = text.replace(/\r?\n$/, '');
  return secret === '' || /^\s|\s$/.test(secret) || /\p{Cc}/u.test(secret) ? null : secret;
}
