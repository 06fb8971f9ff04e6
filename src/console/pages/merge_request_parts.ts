import { html, type Html } from '../web/html.ts'
import { ago, badge, form, person } from '../web/parts.ts'
import { of, type InProject } from '../web/places.ts'
import type { MergeRequest, User } from '../web/records.ts'

export interface Approvals {
  readonly approved: boolean
  readonly approvals_required?: number
  readonly approved_by: readonly { readonly user: User }[]
  readonly user_has_approved: boolean
  readonly user_can_approve: boolean
}

/** Reasons for which a merge request cannot be merged, in words. */
const OBSTACLES: Readonly<Record<string, string>> = {
  checking: 'Whether it can be merged is being checked.',
  unchecked: 'Whether it can be merged is being checked.',
  preparing: 'It is being prepared.',
  ci_must_pass: 'The pipeline must succeed first.',
  ci_still_running: 'The pipeline is still running.',
  conflict: 'It has conflicts with the target branch.',
  broken_status: 'It has conflicts with the target branch.',
  discussions_not_resolved: 'All threads must be resolved first.',
  draft_status: 'It is a draft.',
  need_rebase: 'The source branch must be rebased first.',
  not_approved: 'Approvals are missing.',
  not_open: 'It is not open.',
  blocked_status: 'Another merge request must be merged first.',
  requested_changes: 'Changes were asked for.',
}

export function mergeBox(ask: InProject, merge: MergeRequest, approvals: Approvals | undefined): Html {
  const here = of(ask.project, 'merge_requests', merge.iid)
  if (merge.state === 'merged')
    return html`<div class="note-box">
      Merged by ${person(merge.merge_user)}
      ${ago(merge.merged_at, ask.now)}${merge.merge_commit_sha && html` as <a class="sha" href="${of(ask.project, 'commit', merge.merge_commit_sha)}">${merge.merge_commit_sha.slice(0, 8)}</a>`}.
    </div>`
  if (merge.state !== 'opened') return html``
  const ready = merge.detailed_merge_status === 'mergeable'
  const by = approvals?.approved_by.map(({ user }) => user.name).join(', ')
  return html`<div class="box">
    <div class="body">
      <p>
        ${ready ? html`<strong>Ready to be merged.</strong>` : (OBSTACLES[merge.detailed_merge_status] ?? 'It cannot be merged yet.')}
        ${by ? html` <span class="quiet">Approved by ${by}.</span>` : approvals && html` <span class="quiet">Nobody has approved it yet.</span>`}
      </p>
      <div class="actions">
        ${ready && merge.user?.can_merge === true && form(ask, `${here}/merge`, html`<input type="hidden" name="sha" value="${merge.sha}" /><label class="check"><input type="checkbox" name="remove" value="true" />Delete the source branch</label> <button class="main">Merge</button>`, 'actions')}
        ${approvals?.user_can_approve === true && form(ask, `${here}/approve`, html`<button>Approve</button>`)}${approvals?.user_has_approved === true && form(ask, `${here}/unapprove`, html`<button>Take back approval</button>`)}
      </div>
    </div>
  </div>`
}

const parts = (ask: InProject, merge: MergeRequest, shown: string): Html => {
  const here = of(ask.project, 'merge_requests', merge.iid)
  const part = (id: string, text: string): Html =>
    html`<a href="${id === '' ? here : `${here}/${id}`}" ${id === shown ? html` aria-current="page"` : ''}
      >${text}</a
    >`
  return html`<nav class="switch" aria-label="Parts of the merge request">
    ${part('', 'Discussion')}${part('diffs', 'Changes')}${part('commits', 'Commits')}${part('pipelines', 'Pipelines')}
  </nav>`
}

/** The title of a merge request and the ways to its parts. */
export const head = (ask: InProject, merge: MergeRequest, shown: string): Html =>
  html`<div class="head">
      <div>
        <h1>${merge.title} <span class="iid">!${merge.iid}</span></h1>
        <div class="meta">
          ${badge(merge.state, merge.state === 'opened' ? 'open' : merge.state)}${merge.draft && badge('draft')}${person(merge.author)}<span
            >wants to merge <span class="chip mono">${merge.source_branch}</span> into
            <span class="chip mono">${merge.target_branch}</span></span
          ><span>${ago(merge.created_at, ask.now)}</span>
        </div>
      </div>
    </div>
    <div class="filters">${parts(ask, merge, shown)}</div>`
