import { z } from 'zod';

/** A member of a flow's `args`, as far as its source shows. */
const FlowArgument = z.object({
  name: z.string(),
  /** The source text of its default; null if there is none. */
  default: z.string().nullable(),
});

/** A flow (`.js`, `.ts`): its description and its arguments. */
const FlowLeaf = z.object({
  kind: z.literal('flow'),
  name: z.string(),
  /** As in a job's `flowFiles`: relative to the flows folder, with its extension. */
  path: z.string(),
  /** Its leading comment, at most 4,000 characters; empty if there is none. */
  about: z.string(),
  args: z.array(FlowArgument),
  /** The syntax error that keeps it from running; null if there is none. */
  fault: z.object({ error: z.string(), line: z.int(), column: z.int() }).nullable(),
});

/** A task file (`.md`), with its first heading or line. */
const TaskLeaf = z.object({ kind: z.literal('task'), name: z.string(), path: z.string(), about: z.string() });

const FlowFolder = z.object({
  kind: z.literal('folder'),
  name: z.string(),
  path: z.string(),
  /** Sorted by name, folders first. */
  get entries(): z.ZodArray<typeof FlowNode> {
    return z.array(FlowNode);
  },
});

/** `PUT /api/flows/{path...}`: what was saved. */
export const SavedFlow = z.object({
  path: z.string(),
  bytes: z.int(),
  /** The syntax error that keeps the flow from running; null if there is none, and for a task file. */
  fault: FlowLeaf.shape.fault,
});
export type SavedFlow = z.infer<typeof SavedFlow>;

/** An entry of `GET /api/flows`, which returns the tree of the flows folder. */
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
