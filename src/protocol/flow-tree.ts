import { z } from 'zod';

/** A member of a flow's `args`, as far as its source tells. */
const FlowArgument = z.object({
  name: z.string(),
  /** The source text of its default; null where it has none. */
  default: z.string().nullable(),
});

/** A flow (`.js`): what its author says of it and what it takes. */
const FlowLeaf = z.object({
  kind: z.literal('flow'),
  name: z.string(),
  /** As `flowFiles` of a job has it: from the flows folder, with its extension. */
  path: z.string(),
  /** The comment that it begins with, at most 4,000 characters; empty where it has none. */
  about: z.string(),
  args: z.array(FlowArgument),
  /** Why it cannot be run as it stands; null where nothing is wrong with its syntax. */
  fault: z.object({ error: z.string(), line: z.int(), column: z.int() }).nullable(),
});

/** A task file (`.md`), with its first heading or line. */
const TaskLeaf = z.object({ kind: z.literal('task'), name: z.string(), path: z.string(), about: z.string() });

const FlowFolder = z.object({
  kind: z.literal('folder'),
  name: z.string(),
  path: z.string(),
  /** By name, folders first. */
  get entries(): z.ZodArray<typeof FlowNode> {
    return z.array(FlowNode);
  },
});

/** An entry of `GET /api/flows`, which is the tree of the flows folder. */
export const FlowNode: z.ZodDiscriminatedUnion<[typeof FlowFolder, typeof FlowLeaf, typeof TaskLeaf], 'kind'> =
  z.discriminatedUnion('kind', [FlowFolder, FlowLeaf, TaskLeaf]);

export type FlowNode = FlowFolder | FlowLeaf | TaskLeaf;
export type FlowLeaf = z.infer<typeof FlowLeaf>;
type TaskLeaf = z.infer<typeof TaskLeaf>;
interface FlowFolder {
  readonly kind: 'folder';
  readonly name: string;
  readonly path: string;
  readonly entries: readonly FlowNode[];
}
