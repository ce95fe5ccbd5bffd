import { expect, test } from 'vitest';
import { drawTerminal } from '../../docs/pictures/terminal.ts';

test('the picture of a terminal shows its last screen, with colours and positions', async () => {
  const written = 'uploading\r\n\x1b[1A\x1b[2K  \x1b[32mdone\x1b[39m <a>\r\n';
  const svg = await drawTerminal('a run', written);
  expect(svg).not.toContain('uploading');
  expect(svg).toMatch(/<text x="32\.8"[^>]*fill="#7fc98f">done<\/text>/);
  expect(svg).toContain('>&lt;a></text>');
  expect(svg).toContain('<title>a run</title>');
});

test('empty rows are omitted', async () => {
  const height = async (written: string) => /height="(\d+)"/.exec(await drawTerminal('', written))?.[1];
  expect(await height('one\r\n\r\n\r\n')).toBe(await height('one'));
});
