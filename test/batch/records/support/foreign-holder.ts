/** The content of a lock file that another machine has written. */
export const FOREIGN_HOLDER = {
  pid: 7,
  started: '1',
  boot: 'b',
  host: 'shelf',
  pid_space: null,
  token: 't',
  since: 'then',
};
