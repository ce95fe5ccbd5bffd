import { expect, it } from 'vitest';
import { normalize } from './normalize.ts';
import { applyWording, describeEnd } from './recording.ts';

it('a changed wording replaces the recorded text everywhere, and never the text of another change', () => {
  const wording = [
    { before: 'mend', after: 'fix' },
    { before: 'mend it', after: 'repair (mend) it' },
  ];
  expect(applyWording('mend it, then mend the rest', wording)).toBe('repair (mend) it, then fix the rest');
});

it('without changes the text is as recorded', () => {
  expect(applyWording('$& mend', [])).toBe('$& mend');
  expect(applyWording('a mend b', [{ before: 'mend', after: '$&' }])).toBe('a $& b');
});

it('the end of a run shows its code, both streams, control characters, and a missing line break', () => {
  expect(describeEnd({ code: 2, stdout: 'a\tb\r\n', stderr: '\u001b[1mno' })).toBe(
    'exit 2\n--- stdout\na\\tb\\r\n--- stderr\n\\u001b[1mno\n(no line break at the end)\n',
  );
});

it('text that differs from run to run becomes a placeholder', () => {
  const text =
    'job loc_01m81shrphvza52ad3vz47mhz3 at 127.0.0.1:40231 since 2026-11-22T14:11:20.973Z in /tmp/x/out';
  expect(normalize(text, [['/tmp/x', '$DIR']])).toBe('job loc_ID at 127.0.0.1:PORT since TIME in $DIR/out');
});
