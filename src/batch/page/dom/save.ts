/** Saves a file from the page: where the user chooses, or as a download in browsers that cannot write files. */

/** Source: File System Access, "Local filesystem". Not in the DOM types of TypeScript. */
interface FilePicker {
  showSaveFilePicker?(options: {
    readonly suggestedName: string;
    readonly types: readonly { readonly accept: Readonly<Record<string, readonly string[]>> }[];
  }): Promise<FileSystemFileHandle>;
}

/** @throws what the browser refuses, such as a file that cannot be written */
export async function saveFile(name: string, text: string): Promise<'saved' | 'downloaded' | 'cancelled'> {
  const bytes = new TextEncoder().encode(text);
  // Called as a method, as the browser demands.
  const picker = window as FilePicker; // see above
  if (picker.showSaveFilePicker === undefined) return download(name, bytes);
  try {
    const types = [{ accept: { 'application/x-subrip': ['.srt'] } }];
    const handle = await picker.showSaveFilePicker({ suggestedName: name, types });
    // Written to a file beside it, which replaces it when it is closed.
    const stream = await handle.createWritable();
    await stream.write(bytes);
    await stream.close();
    return 'saved';
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return 'cancelled';
    throw error;
  }
}

function download(name: string, bytes: Uint8Array<ArrayBuffer>): 'downloaded' {
  const href = URL.createObjectURL(new Blob([bytes], { type: 'application/x-subrip' }));
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
  // The download has begun, but may not have been read yet.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
  return 'downloaded';
}
