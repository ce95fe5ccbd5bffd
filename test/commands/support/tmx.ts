/** TMX as other programs write it, of texts and their translations into Spanish. */
export function tmx(...units: (readonly [string, string])[]): string {
  const rows = units.map(
    ([from, to]) =>
      `<tu changedate="20150101T000000Z"><tuv xml:lang="en-US"><seg>${from}</seg></tuv><tuv xml:lang="es"><seg>${to}</seg></tuv></tu>`,
  );
  return `<tmx version="1.4"><header srclang="en"/><body>${rows.join('')}</body></tmx>`;
}
