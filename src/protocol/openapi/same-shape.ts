/** Holds validators and types of the same thing together: the compiler refuses a validator that says something else. */
import type * as v from 'valibot';

/** `readonly` says who may write; it is no part of what goes over the wire. */
type Written<T> = T extends readonly (infer Item)[]
  ? Written<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Written<T[Name]> }
    : T;

/** True for identical types only: being assignable would let optional fields slip through. */
type Identical<Left, Right> =
  (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;

type SameShape<Type, S extends v.GenericSchema> =
  Identical<Written<Type>, Written<v.InferOutput<S>>> extends true ? S : never;

/** Gives back a validator of exactly `Type`; any other one does not compile. */
export function shapeOf<Type>(): <S extends v.GenericSchema>(schema: SameShape<Type, S>) => S {
  return (schema) => schema;
}
