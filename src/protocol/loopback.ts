/**
 * True for an address that by its text alone never leaves this machine: the one place where http stands in for https.
 * `.localhost` names are not among them, since some systems ask a name server for them.
 */
export function isLoopback({ hostname }: URL): boolean {
  // The parser has turned every other form of an IPv4 address into this one.
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
