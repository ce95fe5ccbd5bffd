/**
 * Languages that the widely used open and hosted models name in their documentation, or have seen in quantity: those of
 * Qwen 2.5 and Llama 3, and the other large languages of Europe and Asia. "languages" in engines.json replaces the list.
 */
export const MODEL_LANGUAGES: readonly string[] = (
  'ar bg bn ca cs da de el en es et fa fi fr gl he hi hr hu id it ja ko lt lv ms nb nl pl pt ro ru sk sl sr sv ta th ' +
  'tr uk ur vi zh'
).split(' ');
