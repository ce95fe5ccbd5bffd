/**
 * Returns true if the text of an address alone guarantees that it never leaves this machine. Only for these is http
 * allowed instead of https. `.localhost` names are not included, because some systems send them to a name server.
 */
export function isLoopback({ hostname }: URL): boolean {
  // The URL parser has already converted every other form of an IPv4 address to this one.
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
