/** Calls back every so many milliseconds until the call that comes back is made; handed in where tests set the time. */
export type Repeat = (everyMs: number, call: () => void) => () => void;

/** With the timers of the system; they never keep a process alive. */
export const repeatWithTimer: Repeat = (everyMs, call) => {
  const timer = setInterval(call, everyMs).unref();
  return () => clearInterval(timer);
};
