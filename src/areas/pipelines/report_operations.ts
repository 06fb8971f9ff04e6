import { Type as t } from 'typebox'
import { project } from '../../access/gates/gates.ts'
import { readsPipelines } from '../../access/gates/pipeline_gates.ts'
import type { TestCase } from '../../ci/reports/junit.ts'
import { readTestReports, type TestSuite } from '../../ci/reports/test_reports.ts'
import { operation } from '../../http/operation.ts'
import { nullable } from '../../http/params/schema.ts'
import { pipeline } from './gates.ts'

const counts = {
  total_time: t.Number({ description: 'Seconds' }),
  total_count: t.Integer(),
  success_count: t.Integer(),
  failed_count: t.Integer(),
  skipped_count: t.Integer(),
  error_count: t.Integer(),
}
type Counts = Record<keyof typeof counts, number>

const Case = t.Object({
  status: t.String(),
  name: t.String(),
  classname: t.String(),
  file: nullable(t.String()),
  execution_time: t.Number(),
  system_output: nullable(t.String()),
  stack_trace: t.Null(),
})
const suite = { name: t.String(), ...counts, suite_error: nullable(t.String()) }

function countCases(cases: readonly TestCase[]): Counts {
  const of = (status: TestCase['status']): number => cases.filter((one) => one.status === status).length
  return {
    total_time: cases.reduce((sum, { execution_time }) => sum + execution_time, 0),
    total_count: cases.length,
    success_count: of('success'),
    failed_count: of('failed'),
    skipped_count: of('skipped'),
    error_count: of('error'),
  }
}
const allCases = (suites: readonly TestSuite[]): TestCase[] => suites.flatMap(({ test_cases }) => test_cases)

const reading = { method: 'GET', published: true, gates: [project, readsPipelines, pipeline] } as const

export const getPipelineTestReport = operation({
  ...reading,
  path: '/projects/:id/pipelines/:pipeline_id/test_report',
  summary: 'Get the test report of a pipeline, from the JUnit reports of its jobs',
  handle: async (ctx) => {
    const suites = await readTestReports(ctx, ctx.pipeline.id)
    return {
      ...countCases(allCases(suites)),
      test_suites: suites.map(({ name, suite_error, test_cases }) => ({
        name,
        ...countCases(test_cases),
        suite_error,
        test_cases: test_cases.map((one) => Object.assign(one, { stack_trace: null })),
      })),
    }
  },
  returns: t.Object({ ...counts, test_suites: t.Array(t.Object({ ...suite, test_cases: t.Array(Case) })) }),
})

export const getPipelineTestReportSummary = operation({
  ...reading,
  path: '/projects/:id/pipelines/:pipeline_id/test_report_summary',
  summary: 'Get the summary of the test report of a pipeline',
  handle: async (ctx) => {
    const suites = await readTestReports(ctx, ctx.pipeline.id)
    const total = countCases(allCases(suites))
    return {
      total: {
        time: total.total_time,
        count: total.total_count,
        success: total.success_count,
        failed: total.failed_count,
        skipped: total.skipped_count,
        error: total.error_count,
        suite_error: suites.find(({ suite_error }) => suite_error !== null)?.suite_error ?? null,
      },
      test_suites: suites.map(({ name, build_ids, suite_error, test_cases }) => ({
        name,
        ...countCases(test_cases),
        build_ids,
        suite_error,
      })),
    }
  },
  returns: t.Object({
    total: t.Object({
      time: t.Number({ description: 'Seconds' }),
      count: t.Integer(),
      success: t.Integer(),
      failed: t.Integer(),
      skipped: t.Integer(),
      error: t.Integer(),
      suite_error: nullable(t.String()),
    }),
    test_suites: t.Array(t.Object({ ...suite, build_ids: t.Array(t.Integer()) })),
  }),
})
