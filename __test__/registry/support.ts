import { z } from 'zod';
import type { AnyTool, Tool, ToolSource } from 'ferrule/core';
import type { ToolAuditEvent } from 'ferrule/audit';
import { createToolRegistry, type ToolRegistry, type ToolRegistryOptions } from 'ferrule/registry';

/** A tool that needs no warning unless the patch asks for one. */
export function make(name: string, patch: Partial<AnyTool> = {}): Tool {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: z.object({}),
    sideEffectClass: 'read-only',
    execute: async () => undefined,
    ...patch,
  };
}

/** A tool that declares nothing. */
export function bare(name: string, patch: Partial<AnyTool> = {}): Tool {
  const { sideEffectClass: _, ...rest } = make(name, patch);
  return rest;
}

export const firstParty: ToolSource = { kind: 'first-party' };
export const mcp = (serverIdentity: string): ToolSource => ({ kind: 'mcp', serverIdentity });
export const web = (providerName: string): ToolSource => ({ kind: 'web-search', providerName });
export const builtIn = (subsystem: string): ToolSource => ({ kind: 'built-in', subsystem });
export const skill = (skillName: string, trusted = true): ToolSource => ({
  kind: 'skill',
  skillName,
  trustLevel: trusted ? 'trusted' : 'untrusted',
});

/** A registry with its audit rows in a list. */
export function audited(options: ToolRegistryOptions = {}): { registry: ToolRegistry; events: ToolAuditEvent[] } {
  const events: ToolAuditEvent[] = [];
  const registry = createToolRegistry({ ...options, emitAudit: (event) => void events.push(event) });
  return { registry, events };
}

/** Names in the order of `list()`. */
export function names(registry: ToolRegistry): string[] {
  return registry.list().map(({ name }) => name);
}
