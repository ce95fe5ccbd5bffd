import type { Operation } from '../../protocol/operations.ts';

/** What is served unsigned besides the interface. */
export type PageName = 'document' | 'health' | 'metrics';

/** Where a path leads; `template` is the path with its parameters in braces. */
export type Route = { readonly template: string } & (
  | { readonly type: 'operation'; readonly operation: Operation }
  | { readonly type: 'object' }
  | { readonly type: 'asset' }
  | { readonly type: 'errorPage' }
  | { readonly type: 'page'; readonly name: PageName }
);
