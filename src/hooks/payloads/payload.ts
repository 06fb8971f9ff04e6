import type { EventRow, Payload, Site } from './common.ts'
import { deploymentHook, milestoneHook } from './deployments.ts'
import { issueHook } from './issues.ts'
import { mergeRequestHook } from './merge_requests.ts'
import { emojiHook, noteHook } from './notes.ts'
import { jobHook, pipelineHook } from './pipelines.ts'
import { groupHook, memberHook, projectHook, userHook } from './places.ts'
import { pushHook, repositoryUpdateHook } from './pushes.ts'

type Render = (
  site: Site,
  event: EventRow,
  isSystem: boolean,
) => Promise<Payload | undefined> | Payload | undefined

const RENDER: Readonly<Record<string, Render>> = {
  push: pushHook,
  tag_push: pushHook,
  repository_update: repositoryUpdateHook,
  issue: issueHook,
  note: noteHook,
  emoji: emojiHook,
  merge_request: mergeRequestHook,
  pipeline: pipelineHook,
  job: jobHook,
  deployment: deploymentHook,
  milestone: milestoneHook,
  project: projectHook,
  group: groupHook,
  member: memberHook,
  user: (_site, event) => userHook(event),
}

/** The published payload of an event; undefined where what it is about is gone, or has no webhooks. */
export const renderPayload = async (
  site: Site,
  event: EventRow,
  isSystem: boolean,
): Promise<Payload | undefined> => RENDER[event.kind]?.(site, event, isSystem)
