/** What goes wrong with a program that runs as a child process, as types that callers can tell apart. */

/** The program is not installed; `program` is its name as it would be typed. */
export class ProgramMissing extends Error {
  override readonly name = 'ProgramMissing';
  readonly program: string;

  constructor(program: string) {
    super(`${program} is not installed`);
    this.program = program;
  }
}

/** The program ran and failed, or was stopped by one of its limits. */
export class ChildFailure extends Error {
  override readonly name = 'ChildFailure';
  readonly program: string;
  /** Exit code; null when a signal ended it. */
  readonly exitCode: number | null;
  readonly endedBy: string | null;
  /** The end of what it wrote to stderr: untrusted, it quotes names and tags of the media. */
  readonly lastWords: string;

  constructor(program: string, end: { exitCode: number | null; endedBy: string | null; lastWords: string }) {
    const how = end.endedBy === null ? `exit code ${end.exitCode}` : `signal ${end.endedBy}`;
    super(`${program} ended with ${how}${end.lastWords === '' ? '' : `: ${end.lastWords}`}`);
    this.program = program;
    this.exitCode = end.exitCode;
    this.endedBy = end.endedBy;
    this.lastWords = end.lastWords;
  }
}
