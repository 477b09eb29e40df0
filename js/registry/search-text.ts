import type { RegistryEntry } from './types.js';

/** The tags of an entry that are text. @internal */
export function tagsOf(entry: RegistryEntry): ReadonlyArray<string> {
  const { tags } = entry;
  return Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [];
}

/**
 * What a search looks at: name, description, tags and the comments of examples, but not their inputs
 * and outputs.
 *
 * @internal
 */
export function searchText(entry: RegistryEntry): string {
  let text = `${entry.name} ${entry.description ?? ''}`;
  const tags = tagsOf(entry);
  if (tags.length > 0) text += ` ${tags.join(' ')}`;
  for (const example of entry.examples ?? []) {
    const comment: unknown = example?.comment;
    if (typeof comment === 'string' && comment !== '') text += ` ${comment}`;
  }
  return text;
}
