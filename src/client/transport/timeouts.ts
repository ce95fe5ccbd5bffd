/** How long the client waits for what, in milliseconds. */
export interface Timeouts {
  /** Until the connection stands, TLS included. */
  readonly connectMs: number;
  /** One signed call from its start to the last byte of the answer. */
  readonly callMs: number;
  /** The longest silence while bytes are sent, or received, for a file. */
  readonly idleMs: number;
  /** From the last byte of a file to the answer: storage may have to hash and copy it first. */
  readonly storedMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  // The largest body (12 MiB of subtitle lines) takes 100 s at 1 Mbit/s.
  callMs: 120_000,
  // One chunk of 1 MiB in a minute is 140 kbit/s: slower than that, a video does not arrive within its reservation.
  idleMs: 60_000,
  // What sits in the kernel's buffer (up to 4 MiB) still has to leave at that rate, then the store begins.
  storedMs: 300_000,
};
