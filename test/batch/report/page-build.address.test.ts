import { expect, test } from 'vitest';
import { pageAddress, pathFrom } from '../../../src/batch/report/page-build.ts';

test('files are addressed relative to the folder of the page', () => {
  expect(pageAddress(pathFrom('/out')('/out/week 1/talk.es.mp4'))).toBe('./week%201/talk.es.mp4');
  expect(pageAddress(pathFrom('/out/report')('/in/talk.mp4'))).toBe('./../../in/talk.mp4');
});

test.each([
  ['javascript:alert(1).mp4', './javascript%3Aalert(1).mp4'],
  ['50% #1?.mp4', './50%25%20%231%3F.mp4'],
  ['"><img src=x>.mp4', './%22%3E%3Cimg%20src%3Dx%3E.mp4'],
  ['日本.mp4', './%E6%97%A5%E6%9C%AC.mp4'],
])('the name %s stays a name', (name, address) => {
  expect(pageAddress(name)).toBe(address);
});
