import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile, planOrRefuse } from '../../../test/support/ci_config.ts'

const FILES = {
  'empty.yml': '',
  'broken.yml': 'a: [',
  'list.yml': '- a',
  'self.yml': 'include: self.yml',
  'a.yml': 'include: [b.yml, b.yml]',
  'b.yml': 'include: [a.yml, a.yml]',
  'inputs.yml':
    'spec: {inputs: {env: {options: [a, b]}, n: {type: number, default: 1}, v: {regex: "^v\\\\d+$", default: v1}}}\n---\nj:\n  script: $[[ inputs.env ]]',
  'unknown_input.yml': 'spec: {inputs: {}}\n---\nj:\n  script: $[[ inputs.x ]]',
  'bad_function.yml': 'spec: {inputs: {x: {default: a}}}\n---\nj: {script: "$[[ inputs.x | upcase ]]"}',
  'bad_type.yml': 'spec: {inputs: {x: {type: colour, default: a}}}\n---\nj: {script: a}',
  'bad_spec.yml': 'spec: {inputs: {x: {sort: a}}}\n---\nj: {script: a}',
  'bad_header.yml': 'spec: {}\nother: 1\n---\nj: {script: a}',
}
const PROJECTS = { 'group/lib': { 'ci.yml': 'x: {script: x}', 'empty.yml': ' ' } }

const job = (keywords: string): string => `j: {script: a, ${keywords}}`
const two = (keywords: string): string =>
  `stages: [one, two]\na: {stage: one, script: a}\nb: {stage: two, script: b, ${keywords}}`
const many = (count: number, each: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => each(at)).join('\n')

type Row = readonly [configuration: string, ...texts: string[]]

/** Text and shape. */
const SHAPE: readonly Row[] = [
  ['', 'Please provide content of .gitlab-ci.yml'],
  ['  \n', 'Please provide content of .gitlab-ci.yml'],
  ['- a', 'Invalid configuration format'],
  ['text', 'Invalid configuration format'],
  ['# a comment', 'Invalid configuration format'],
  ['a: 1\n---\nb: 1\n---\nc: 1', 'The parsed YAML has too many documents'],
  [
    'a: [1\nb: 2',
    '(<unknown>): Flow sequence in block collection must be sufficiently indented and end with a ] at line 2 column 1',
  ],
  ['a: 1\n\tb: 2', '(<unknown>): Tabs are not allowed as indentation at line 2 column 1'],
  ['a: b: c', '(<unknown>): Nested mappings are not allowed in compact mappings at line 1 column 4'],
  ['a: "x', '(<unknown>): Missing closing "quote at line 1 column 6'],
  ['a: *x', '(<unknown>): Unknown alias: x'],
  ['a: &x [*x]', '(<unknown>): Unknown alias: x'],
  ['a: !ruby/object {}', '(<unknown>): Unresolved tag: !ruby/object at line 1 column 4'],
  [`a: ${'x'.repeat(1_100_000)}`, 'The parsed YAML is too big'],
  ['x'.repeat(10_000_000), 'Total size of combined CI/CD configuration is too big'],
  [`a: ${'['.repeat(300_000)}`, 'The parsed YAML is too big'],
  [`a: ${'{a: '.repeat(200)}1${'}'.repeat(200)}`, 'The parsed YAML is too big'],
  [many(200, (at) => `${' '.repeat(at)}a:`), 'The parsed YAML is too big'],
  [`a: ${'- '.repeat(20_000)}`, 'The parsed YAML is too big'],
  [
    `a0: &a0 [${Array(9).fill('lol').join(', ')}]\n${many(9, (at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`)}`,
    'The parsed YAML is too big',
  ],
  [
    'j:',
    'jobs j config should implement the script:, run:, or trigger: keyword',
    'jobs config should contain at least one visible job',
  ],
  [
    'j: text',
    'jobs j config should implement the script:, run:, or trigger: keyword',
    'jobs config should contain at least one visible job',
  ],
  [
    'j: {stage: test}',
    'jobs j config should implement the script:, run:, or trigger: keyword',
    'jobs config should contain at least one visible job',
  ],
  ['.j: {script: a}', 'jobs config should contain at least one visible job'],
  ['stages: [a]', 'jobs config should contain at least one visible job'],
  [
    'MyJob: {image: x}\nj: {script: a}',
    'jobs myjob config should implement the script:, run:, or trigger: keyword',
  ],
  [
    '10: {script: a}',
    'jobs:10 name should be a symbol',
    'jobs config should contain at least one visible job',
  ],
  ['"": {script: a}', "jobs job name can't be blank", 'jobs config should contain at least one visible job'],
  [
    `${'x'.repeat(256)}: {script: a}`,
    'jobs job name is too long (maximum is 255 characters)',
    'jobs config should contain at least one visible job',
  ],
  ['types: [a]\nj: {script: a}', 'jobs types config should implement the script:, run:, or trigger: keyword'],
]

/** Keywords of the root and of `default`. */
const ROOT: readonly Row[] = [
  ['stages: a\nj: {script: a}', 'stages config should be an array of strings'],
  ['stages: [1]\nj: {script: a}', 'stages config should be an array of strings'],
  ['stages: {a: b}\nj: {script: a}', 'stages config should be an array of strings'],
  ['image: [a]\nj: {script: a}', 'image config should be a hash or a string'],
  ['image: {entrypoint: [a]}\nj: {script: a}', 'image config missing required keys: name'],
  ['image: {name: a, colour: b}\nj: {script: a}', 'image config contains unknown keys: colour'],
  ['services: a\nj: {script: a}', 'services config should be a array'],
  ['services: [10]\nj: {script: a}', 'services:service config should be a hash or a string'],
  ['services: [{alias: a}]\nj: {script: a}', 'services:service config missing required keys: name'],
  [
    'before_script: 10\nj: {script: a}',
    'before_script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  [
    'after_script: [{a: b}]\nj: {script: a}',
    'after_script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  ['cache: a\nj: {script: a}', 'cache config should be a hash or an array of hashes'],
  ['default: a\nj: {script: a}', 'default config should be a hash'],
  ['default: {script: a}\nj: {script: a}', 'default config contains unknown keys: script'],
  ['default: {image: 1}\nj: {script: a}', 'default:image config should be a hash or a string'],
  ['default: {tags: a}\nj: {script: a}', 'default:tags config should be an array of strings'],
  ['default: {timeout: soon}\nj: {script: a}', 'default:timeout config should be a duration'],
  ['default: {interruptible: 1}\nj: {script: a}', 'default:interruptible config should be a boolean value'],
  ['variables: a\nj: {script: a}', 'variables config should be a hash'],
  ['variables: [a]\nj: {script: a}', 'variables config should be a hash'],
  [
    'variables: {A: true}\nj: {script: a}',
    'variables:a config variable definition must be either a string or a hash',
  ],
  [
    'variables: {A: [a]}\nj: {script: a}',
    'variables:a config variable definition must be either a string or a hash',
  ],
  [
    'variables: {A: {value: a, colour: b}}\nj: {script: a}',
    'variables:a config uses invalid data keys: colour',
  ],
  [
    'variables: {A: {value: a, options: [b]}}\nj: {script: a}',
    'variables:a config value must be present in options',
  ],
  [
    'variables: {A: {value: a, expand: b}}\nj: {script: a}',
    'variables:a config expand must be a boolean value',
  ],
  ['workflow: a\nj: {script: a}', 'workflow config should be a hash'],
  ['workflow: {when: a}\nj: {script: a}', 'workflow config contains unknown keys: when'],
  [
    'workflow: {rules: [{when: manual}]}\nj: {script: a}',
    'workflow:rules:rule when should be one of: always, never',
  ],
  [
    'workflow: {rules: a}\nj: {script: a}',
    'workflow:rules config should be an array containing hashes and arrays of hashes',
  ],
  ['workflow: {rules: [{if: $}]}\nj: {script: a}', 'workflow:rules:rule if invalid expression syntax'],
  [
    `workflow: {name: ${'x'.repeat(256)}}\nj: {script: a}`,
    'workflow name is too long (maximum is 255 characters)',
  ],
  [
    'workflow: {auto_cancel: {on_new_commit: all}}\nj: {script: a}',
    'workflow:auto_cancel on new commit must be one of: conservative, interruptible, none',
  ],
  [
    'workflow: {auto_cancel: {on_job_failure: 1}}\nj: {script: a}',
    'workflow:auto_cancel on job failure must be one of: none, all',
  ],
  [
    'include: 1\nj: {script: a}',
    '`1` does not have a valid subkey for include. Valid subkeys are: `local`, `project`, `remote`, `template`, `artifact`, `component`',
  ],
]

/** Keywords of jobs. */
const JOBS: readonly Row[] = [
  [job('colour: a'), 'jobs:j config contains unknown keys: colour'],
  [job('colour: a, size: b'), 'jobs:j config contains unknown keys: colour, size'],
  [job('run: [{name: a, script: b}]'), 'jobs:j config contains unknown keys: run'],
  [
    'j: {script: 10}',
    'jobs:j:script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  [
    'j: {script: }',
    'jobs:j:script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  [
    'j:\n  script:\n    - echo a: b',
    'jobs:j:script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  [
    `j: {script: ${'['.repeat(11)}a${']'.repeat(11)}}`,
    'jobs:j:script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  [
    job('before_script: {a: b}'),
    'jobs:j:before_script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  [job('stage: [a]'), 'jobs:j:stage config should be a string'],
  [job('image: [a]'), 'jobs:j:image config should be a hash or a string'],
  [
    job('image: {name: a, pull_policy: {}}'),
    'jobs:j:image:pull_policy config should be an array of strings or a string',
  ],
  [job('services: a'), 'jobs:j:services config should be a array'],
  [job('services: [{name: 1}]'), 'jobs:j:services:service name should be a string'],
  [job('tags: a'), 'jobs:j:tags config should be an array of strings'],
  [job('tags: [1]'), 'jobs:j:tags config should be an array of strings'],
  [
    job(`tags: [${Array(50).fill('a').join(', ')}]`),
    'jobs:j:tags config must be less than the limit of 50 tags',
  ],
  [job('when: never'), 'jobs:j when should be one of: on_success, on_failure, always, manual, delayed'],
  [job('when: 1'), 'jobs:j when should be one of: on_success, on_failure, always, manual, delayed'],
  [job('when: delayed'), 'jobs:j start in should be a duration'],
  [job('when: delayed, start_in: soon'), 'jobs:j start in should be a duration'],
  [job('when: delayed, start_in: 8 days'), 'jobs:j start in should not exceed the limit'],
  [job('start_in: 1 day'), 'jobs:j start in must be blank'],
  [job('allow_failure: a'), 'jobs:j allow failure should be a hash or a boolean value'],
  [
    job('allow_failure: {exit_codes: a}'),
    'jobs:j:allow_failure exit codes should be an array of integers or an integer',
  ],
  [job('allow_failure: {codes: 1}'), 'jobs:j:allow_failure config contains unknown keys: codes'],
  [job('retry: a'), 'jobs:j retry config has to be either an integer or a hash'],
  [job('retry: 3'), 'jobs:j:retry config must be less than or equal to 2'],
  [job('retry: -1'), 'jobs:j:retry config must be greater than or equal to 0'],
  [job('retry: {max: 3}'), 'jobs:j:retry max must be less than or equal to 2'],
  [job('retry: {when: later}'), 'jobs:j:retry when contains unknown values: later'],
  [job('retry: {when: 1}'), 'jobs:j:retry when should be an array of strings or a string'],
  [job('retry: {exit_codes: a}'), 'jobs:j:retry exit codes should be an array of integers or an integer'],
  [job('retry: {times: 1}'), 'jobs:j:retry config contains unknown keys: times'],
  [job('timeout: soon'), 'jobs:j:timeout config should be a duration'],
  [job('timeout: 2 months'), 'jobs:j:timeout config should not exceed the limit'],
  [job('timeout: [1]'), 'jobs:j:timeout config should be a duration'],
  [job('interruptible: a'), 'jobs:j:interruptible config should be a boolean value'],
  [job('resource_group: [a]'), 'jobs:j resource group should be a string'],
  [job('coverage: a'), 'jobs:j:coverage config must be a regular expression'],
  [job('coverage: /(/'), 'jobs:j:coverage config must be a regular expression'],
  [job('coverage: /a(?=b)/'), 'jobs:j:coverage config must be a regular expression'],
  [job('dependencies: a'), 'jobs:j dependencies should be an array of strings'],
  [job('extends: 1'), 'jobs:j extends should be an array of strings or a string'],
  [job('inherit: {default: a}'), 'jobs:j:inherit:default config should be a bool or array of strings'],
  [job('inherit: {jobs: true}'), 'jobs:j:inherit config contains unknown keys: jobs'],
  [
    job('variables: {A: true}'),
    'jobs:j:variables:a config variable definition must be either a string or a hash',
  ],
  [
    job('variables: {A: {value: a, description: b}}'),
    'jobs:j:variables:a config uses invalid data keys: description',
  ],
  [job('variables: a'), 'jobs:j:variables config should be a hash'],
  [job('artifacts: a'), 'jobs:j:artifacts config should be a hash'],
  [job('artifacts: {name: 1}'), 'jobs:j:artifacts name should be a string'],
  [job('artifacts: {paths: a}'), 'jobs:j:artifacts paths should be an array of strings'],
  [job('artifacts: {when: a}'), 'jobs:j:artifacts when should be one of: on_success, on_failure, always'],
  [job('artifacts: {expire_in: 7}'), 'jobs:j:artifacts expire in should be a duration'],
  [job('artifacts: {expire_in: soon}'), 'jobs:j:artifacts expire in should be a duration'],
  [job('artifacts: {expire_in: 99999999 years}'), 'jobs:j:artifacts expire in should be a duration'],
  [job('artifacts: {untracked: a}'), 'jobs:j:artifacts untracked should be a boolean value'],
  [
    job('artifacts: {access: some}'),
    'jobs:j:artifacts access should be one of: none, developer, maintainer, all',
  ],
  [
    job('artifacts: {access: all, public: true}'),
    'jobs:j:artifacts config these keys cannot be used together: public, access',
  ],
  [job('artifacts: {expose_as: a}'), "jobs:j:artifacts paths can't be blank"],
  [
    job('artifacts: {expose_as: a, paths: ["*"]}'),
    "jobs:j:artifacts paths can't contain '*' when used with 'expose_as'",
  ],
  [
    job('artifacts: {expose_as: "a!", paths: [a]}'),
    "jobs:j:artifacts expose as can contain only letters, digits, '-', '_' and spaces",
  ],
  [job('artifacts: {reports: a}'), 'jobs:j:artifacts:reports config should be a hash'],
  [
    job('artifacts: {reports: {weather: a}}'),
    'jobs:j:artifacts:reports config contains unknown keys: weather',
  ],
  [
    job('artifacts: {reports: {junit: 1}}'),
    'jobs:j:artifacts:reports junit should be an array of strings or a string',
  ],
  [
    job('artifacts: {reports: {coverage_report: {path: a}}}'),
    'jobs:j:artifacts:reports:coverage_report config missing required keys: coverage_format',
  ],
  [job('artifacts: {size: 1}'), 'jobs:j:artifacts config contains unknown keys: size'],
  [job('cache: {key: [a]}'), 'jobs:j:cache:key should be a hash, a string or a symbol'],
  [job('cache: {key: {prefix: a}}'), 'jobs:j:cache:key config missing required keys: files'],
  [job('cache: {key: {files: []}}'), 'jobs:j:cache:key:files config requires at least 1 item'],
  [
    job('cache: {key: {files: [a, b, c]}}'),
    'jobs:j:cache:key:files config has too many items (maximum is 2)',
  ],
  [job('cache: {when: a}'), 'jobs:j:cache when should be one of: on_success, on_failure, always'],
  [job('cache: {colour: a}'), 'jobs:j:cache config contains unknown keys: colour'],
  [job('environment: 1'), 'jobs:j:environment config should be a hash or a string'],
  [job('environment: {url: a}'), "jobs:j:environment name can't be blank"],
  [
    job('environment: {name: "a!"}'),
    "jobs:j:environment name can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
  ],
  [
    job('environment: {name: a, action: go}'),
    'jobs:j:environment action should be start, stop, prepare, verify, or access',
  ],
  [
    job('environment: {name: a, deployment_tier: x}'),
    'jobs:j:environment deployment tier must be one of production, staging, testing, development, other',
  ],
  [job('environment: {name: a, auto_stop_in: soon}'), 'jobs:j:environment auto stop in should be a duration'],
  [
    job('environment: {name: a, auto_stop_in: 99999999 years}'),
    'jobs:j:environment auto stop in should be a duration',
  ],
  [
    job('environment: {name: a, kubernetes: {}}'),
    'jobs:j:environment config contains unknown keys: kubernetes',
  ],
  [job('parallel: a'), 'jobs:j:parallel should be an integer or a hash'],
  [job('parallel: 0'), 'jobs:j:parallel config must be greater than or equal to 1'],
  [job('parallel: 201'), 'jobs:j:parallel config must be less than or equal to 200'],
  [job('parallel: {matrix: a}'), 'jobs:j:parallel:matrix config should be an array of hashes'],
  [job('parallel: {matrix: []}'), 'jobs:j:parallel:matrix config requires at least 1 item'],
  [
    job('parallel: {matrix: [{A: {b: c}}]}'),
    'jobs:j:parallel:matrix variables config should be a hash of key value pairs, value can be an array',
  ],
  [
    job(
      `parallel: {matrix: [{A: [${Array(15).fill('a').join(', ')}], B: [${Array(15).fill('a').join(', ')}]}]}`,
    ),
    'jobs:j:parallel:matrix config generates too many jobs (maximum is 200)',
  ],
  [job('parallel: {}'), 'jobs:j:parallel config missing required keys: matrix'],
  [job('release: {tag_name: a}'), 'jobs:j:release config missing required keys: description'],
  [
    job('release: {tag_name: a, description: b, released_at: soon}'),
    'jobs:j:release released at must be a valid datetime',
  ],
  [job('id_tokens: {A: {}}'), 'jobs:j:id_tokens:a config missing required keys: aud'],
  [job('secrets: a'), 'jobs:j:secrets config should be a hash'],
  [job('hooks: {after: a}'), 'jobs:j:hooks config contains unknown keys: after'],
  [job('only: a'), 'jobs:j:only has to be either an array of conditions or a hash'],
  [
    job('only: [/(/]'),
    'jobs:j:only config should be an array of strings or regular expressions using re2 syntax',
  ],
  [job('only: {variables: [$A ==]}'), 'jobs:j:only variables invalid expression syntax'],
  [
    job('except: {refs: 1}'),
    'jobs:j:except refs should be an array of strings or regular expressions using re2 syntax',
  ],
  [job('only: {weather: [a]}'), 'jobs:j:only config contains unknown keys: weather'],
]

/** Rules, needs and triggers. */
const RULES: readonly Row[] = [
  [job('rules: a'), 'jobs:j:rules config should be an array containing hashes and arrays of hashes'],
  [job('rules: [a]'), 'jobs:j:rules config should be an array containing hashes and arrays of hashes'],
  [job('rules: [{if: "$A = 1"}]'), 'jobs:j:rules:rule if invalid expression syntax'],
  [job('rules: [{if: 1}]'), 'jobs:j:rules:rule if invalid expression syntax'],
  [
    job(`rules: [{if: '${Array(51).fill('$A').join(' && ')}'}]`),
    'jobs:j:rules:rule if invalid expression syntax',
  ],
  [job("rules: [{if: '$A =~ /(a+/'}]"), 'jobs:j:rules:rule if invalid expression syntax'],
  [
    job('rules: [{when: later}]'),
    'jobs:j:rules:rule when should be one of: on_success, on_failure, always, manual, delayed, never',
  ],
  [job('rules: [{when: delayed}]'), 'jobs:j:rules:rule start in should be a duration'],
  [job('rules: [{start_in: 1 day}]'), 'jobs:j:rules:rule start in must be blank'],
  [job('rules: [{allow_failure: a}]'), 'jobs:j:rules:rule allow failure should be a boolean value'],
  [job('rules: [{colour: a}]'), 'jobs:j:rules:rule config contains unknown keys: colour'],
  [job('rules: [{changes: a}]'), 'jobs:j:rules:rule:changes config should be an array or a hash'],
  [
    job('rules: [{changes: {compare_to: a}}]'),
    'jobs:j:rules:rule:changes config missing required keys: paths',
  ],
  [
    job(`rules: [{changes: [${Array(51).fill('a').join(', ')}]}]`),
    'jobs:j:rules:rule:changes config has too many entries (maximum 50)',
  ],
  [
    job('rules: [{exists: 1}]'),
    'jobs:j:rules:rule:exists config should be a string, an array of strings, or a hash',
  ],
  [
    job(`rules: [{exists: [${Array(51).fill('a').join(', ')}]}]`),
    'jobs:j:rules:rule:exists config has too many entries (maximum 50)',
  ],
  [
    job('rules: [{exists: {paths: [a], ref: b}}]'),
    'jobs:j:rules:rule:exists ref requires project to be specified',
  ],
  [job('rules: [{variables: a}]'), 'jobs:j:rules:rule:variables config should be a hash'],
  [job('rules: [], only: [a]'), 'jobs:j config key may not be used with `rules`: only'],
  [job('rules: [], only: [a], except: [b]'), 'jobs:j config key may not be used with `rules`: only, except'],
  [job('needs: a'), 'jobs:j:needs config can only be a hash or an array'],
  [job('needs: [1]'), 'jobs:j:needs:need has an unsupported type'],
  [job('needs: [{artifacts: true}]'), 'jobs:j:needs:need has an unsupported type'],
  [job('needs: [{job: a, artifacts: b}]'), 'jobs:j:needs:need artifacts should be a boolean value'],
  [job('needs: [{project: a, job: b, ref: c}]'), 'jobs:j:needs config uses invalid types: cross_dependency'],
  [job('needs: [{pipeline: 1, job: b}]'), 'jobs:j:needs config uses invalid types: cross_dependency'],
  [job('trigger: a'), 'jobs:j config these keys cannot be used together: script, trigger'],
  ['j: {needs: [a]}', 'jobs:j config should contain either a trigger or a needs:pipeline'],
  ['j: {trigger: 1}', 'jobs:j:trigger has to be either a string or a hash'],
  ['j: {trigger: {branch: a}}', 'jobs:j:trigger config must specify either project or include'],
  ['j: {trigger: {project: a, strategy: b}}', 'jobs:j:trigger strategy should be depend or mirror'],
  ['j: {trigger: {project: a, colour: b}}', 'jobs:j:trigger config contains unknown keys: colour'],
  [
    'j: {trigger: {include: [a.yml, b.yml, c.yml, d.yml]}}',
    'jobs:j:trigger:include config is too long (maximum is 3)',
  ],
  [
    'j: {trigger: {include: [{artifact: a}]}}',
    'jobs:j:trigger:include config must specify the job where to fetch the artifact from',
  ],
  [
    'j: {trigger: {include: [{project: a}]}}',
    'jobs:j:trigger:include config must specify the file where to fetch the config from',
  ],
  [
    'j: {trigger: {include: [{template: a}]}}',
    'jobs:j:trigger:include config contains unknown keys: template',
    'jobs:j:trigger:include config must specify the file where to fetch the config from',
  ],
  [
    'j: {trigger: {project: a, forward: {all: true}}}',
    'jobs:j:trigger:forward config contains unknown keys: all',
  ],
  ['j: {trigger: a, parallel: 2}', 'jobs:j:parallel config cannot use "parallel: <number>".'],
  [
    'j: {trigger: a, when: delayed, start_in: 1 day}',
    'jobs:j config contains unknown keys: start_in',
    'jobs:j when should be one of: on_success, on_failure, always, manual',
  ],
  ['j: {trigger: a, image: b}', 'jobs:j config contains unknown keys: image'],
  ['j: {trigger: a, allow_failure: {exit_codes: 1}}', 'jobs:j allow failure should be a boolean value'],
]

/** Between jobs and files. */
const BETWEEN: readonly Row[] = [
  [
    job('stage: deply'),
    'j job: chosen stage deply does not exist; available stages are .pre, build, test, deploy, .post',
  ],
  [
    'stages: [build]\nj: {script: a}',
    'j job: chosen stage test does not exist; available stages are .pre, build, .post',
  ],
  [job('extends: .none'), 'j: unknown keys in `extends` (.none)'],
  ['.a: text\nj: {script: a, extends: .a}', 'j: invalid base hashes in `extends` (.a)'],
  ['a: {script: a, extends: b}\nb: {script: b, extends: a}', 'b: circular dependency detected in `extends`'],
  [job('extends: j'), 'j: circular dependency detected in `extends`'],
  [
    `${many(12, (at) => `.a${at}: {extends: .a${at + 1}}`)}\n.a12: {script: a}\nj: {extends: .a0}`,
    '.a10: nesting too deep in `extends`',
  ],
  ['j: {script: !reference [.a, script]}', '!reference [".a", "script"] could not be found'],
  [
    '.a: {script: !reference [.b, script]}\n.b: {script: !reference [.a, script]}\nj: {script: !reference [.a, script]}',
    '!reference [".b", "script"] is part of a circular chain',
  ],
  ['j: {script: !reference []}', '!reference is not valid'],
  [
    many(11, (at) => `.a${at}: {s: [!reference [.a${at + 1}, s], !reference [.a${at + 1}, s]]}`) +
      '\nj: {script: !reference [.a0, s]}',
    '!reference [".a11", "s"] is nested too deep',
  ],
  [two('needs: [c]'), 'b job: undefined need: c'],
  [two('needs: [a, a]'), 'b has the following needs duplicated: a.'],
  [
    two(`needs: [${'x'.repeat(129)}]`),
    `b job: need \`${'x'.repeat(129)}\` name is too long (maximum is 128 characters)`,
  ],
  [
    'stages: [one, two]\na: {stage: one, script: a, needs: [b]}\nb: {stage: two, script: b}',
    'a job: need b is not defined in current or prior stages',
  ],
  [
    'a: {script: a, needs: [b]}\nb: {script: b, needs: [a]}',
    'The pipeline has circular dependencies: a -> b -> a',
  ],
  ['a: {script: a, needs: [a]}', 'The pipeline has circular dependencies: self-dependency: a'],
  ['a: {script: a}\nb: {script: b, rules: [{needs: [c]}]}', 'b job: undefined need: c'],
  [two('dependencies: [c]'), 'b job: undefined dependency: c'],
  [
    'stages: [one, two]\na: {stage: one, script: a, dependencies: [b]}\nb: {stage: two, script: b}',
    'a job: dependency b is not defined in current or prior stages',
  ],
  [two('needs: [], dependencies: [a]'), 'jobs:b dependencies the a should be part of needs'],
  [job('environment: {name: x, on_stop: k}'), 'j job: on_stop job k is not defined'],
  [
    `${job('environment: {name: x, on_stop: k}')}\nk: {script: k}`,
    'j job: on_stop job k does not have environment defined',
  ],
  [
    `${job('environment: {name: x, on_stop: k}')}\nk: {script: k, environment: y}`,
    'j job: on_stop job k have different environment name',
  ],
  [
    `${job('environment: {name: x, on_stop: k}')}\nk: {script: k, environment: x}`,
    'j job: on_stop job k needs to have action stop defined',
  ],
  ['include: none.yml', 'Local file `none.yml` does not exist!'],
  ['include: empty.yml', 'Local file `empty.yml` is empty!'],
  ['include: none.txt', 'Included file `none.txt` does not have YAML extension!'],
  ['include: {local: [a]}', 'Included file `["a"]` needs to be a string'],
  [
    'include: broken.yml',
    'Included file `broken.yml` does not have valid YAML syntax! (<unknown>): Flow sequence in block collection must be sufficiently indented and end with a ] at line 1 column 5',
  ],
  [
    'include: list.yml',
    'Included file `list.yml` does not have valid YAML syntax! Invalid configuration format',
  ],
  ['include: self.yml', 'Maximum of 150 nested includes are allowed!'],
  ['include: a.yml', 'Maximum of 150 nested includes are allowed!'],
  [
    'include: {local: a.yml, project: b}',
    'Each include must use only one of: `local`, `project`, `remote`, `template`, `artifact`, `component`',
  ],
  [
    'include: {path: a}',
    '`{"path":"a"}` does not have a valid subkey for include. Valid subkeys are: `local`, `project`, `remote`, `template`, `artifact`, `component`',
  ],
  [
    'include: {project: group/none, file: a.yml}',
    'Project `group/none` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.',
  ],
  [
    'include: {project: group/lib, file: ci.yml, ref: v9}',
    'Project `group/lib` reference `v9` does not exist!',
  ],
  ['include: {project: group/lib, file: none.yml}', 'Project `group/lib` file `none.yml` does not exist!'],
  ['include: {project: group/lib, file: empty.yml}', 'Project `group/lib` file `empty.yml` is empty!'],
  ['include: {project: group/lib}', 'include config must specify the file where to fetch the config from'],
  [
    'include: https://x.example/a.yml',
    'Remote file `https://x.example/a.yml` could not be fetched because of HTTP error!',
  ],
  ['include: {remote: nowhere}', 'Remote file `nowhere` does not have a valid address!'],
  [
    'include: {template: Auto-DevOps.gitlab-ci.yml}',
    'Included file `Auto-DevOps.gitlab-ci.yml` is empty or does not exist!',
  ],
  ['include: {template: Auto}', 'Template file `Auto` is not a valid location!'],
  ['include: {component: x.example/a/b@1}', "Component 'x.example/a/b@1' - content not found"],
  [
    'include: {local: a.yml, rules: [{when: manual}]}',
    'include:rules:rule when should be one of: always, never',
  ],
  ['include: {local: inputs.yml}', '`inputs.yml`: `env` input: required value has not been provided'],
  [
    'include: {local: inputs.yml, inputs: {env: c}}',
    '`inputs.yml`: `env` input: `c` cannot be used because it is not in the list of allowed options',
  ],
  [
    'include: {local: inputs.yml, inputs: {env: 1}}',
    '`inputs.yml`: `env` input: provided value is not a string',
  ],
  [
    'include: {local: inputs.yml, inputs: {env: a, n: x}}',
    '`inputs.yml`: `n` input: provided value is not a number',
  ],
  [
    'include: {local: inputs.yml, inputs: {env: a, v: x}}',
    '`inputs.yml`: `v` input: provided value does not match required RegEx pattern',
  ],
  ['include: {local: inputs.yml, inputs: {other: a}}', '`inputs.yml`: unknown input arguments: other'],
  ['include: unknown_input.yml', '`unknown_input.yml`: unknown interpolation key: `inputs.x`'],
  [
    'include: bad_function.yml',
    '`bad_function.yml`: no function matching `upcase`: check that the function name, arguments, and types are correct',
  ],
  ['include: bad_type.yml', '`bad_type.yml`: header:spec:inputs:x input type unknown value: colour'],
  ['include: bad_spec.yml', '`bad_spec.yml`: header:spec:inputs:x config contains unknown keys: sort'],
  ['include: bad_header.yml', '`bad_header.yml`: header config contains unknown keys: other'],
]

const TABLE = [...SHAPE, ...ROOT, ...JOBS, ...RULES, ...BETWEEN]

for (const [name, rows] of Object.entries({ SHAPE, ROOT, JOBS, RULES, BETWEEN }))
  test(`each bad configuration says what is wrong with it: ${name.toLowerCase()}`, async () => {
    for (const [configuration, ...texts] of rows) {
      const found = await compile(configuration, { files: FILES, projects: PROJECTS })
      assert.ok('errors' in found, configuration.slice(0, 200))
      assert.deepEqual(found.errors, texts, configuration.slice(0, 200))
      assert.equal(found.lines.length, found.errors.length)
    }
  })

test('the table holds at least 150 configurations', () =>
  assert.ok(TABLE.length >= 150, String(TABLE.length)))

test('a fault names the line of its job or keyword, across slices of a long file', async () => {
  const long = many(2_000, (at) => `job ${at}:\n  script: a`)
  const linesOf = async (text: string): Promise<readonly (number | null)[]> => {
    const found = await compile(text)
    return 'errors' in found ? found.lines : []
  }
  assert.deepEqual(await linesOf(`${long}\nlast:\n  script: 1`), [4_001])
  assert.deepEqual(await linesOf(`${long}\nlast:\n  script: [`), [4_002])
  assert.deepEqual(await linesOf('# a\n\nj:\n  script: a\n  stage: x'), [3])
  assert.deepEqual(await linesOf('\nstages: 1\nj: {script: a}'), [2])
})

test('all faults of keywords are told at once, at most a hundred', async () => {
  const found = await compile(many(300, (at) => `j${at}: {script: ${at}, tags: a}`))
  assert.equal('errors' in found && found.errors.length, 100)
})

// Faults that only planning sees.
const PLANNED: readonly (readonly [string, string, string])[] = [
  [
    'a: {script: a, variables: {X: $Y, Y: "${X}", Z: z}}',
    'config_error',
    'a: circular variable reference detected: ["X", "Y"]',
  ],
  [
    'a: {script: a, rules: [{when: never}]}\nb: {script: b, needs: [a]}',
    'config_error',
    "'b' job needs 'a' job, but 'a' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.",
  ],
  [
    'a: {script: a, rules: [{changes: {paths: [a], compare_to: nowhere}}]}',
    'config_error',
    'Failed to parse rule for a: rules:changes:compare_to is not a valid ref',
  ],
  [
    'a: {script: a, rules: [{exists: {paths: [a], project: group/none}}]}',
    'config_error',
    'Failed to parse rule for a: rules:exists:project `group/none` is not a valid project path',
  ],
  [
    `${many(51, (at) => `a${at}: {script: a}`)}\nb: {script: b, needs: [${Array.from({ length: 51 }, (_, at) => `a${at}`).join(', ')}]}`,
    'config_error',
    'b: one job can only need 50 others, but you have listed 51. See needs keyword documentation for more details',
  ],
  [
    many(21, (at) => `a${at}: {script: a}`),
    'size_limit_exceeded',
    'The number of jobs has exceeded the limit of 20. Try splitting the configuration with parent-child-pipelines',
  ],
  [
    'a: {script: a, rules: []}',
    'filtered_by_rules',
    'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
  ],
  [
    'a: {script: a, stage: .pre}',
    'filtered_by_rules',
    'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
  ],
  [
    'a: {script: a, except: [branches]}',
    'filtered_by_rules',
    'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
  ],
  [
    'workflow: {rules: [{if: $CI_COMMIT_TAG}]}\na: {script: a}',
    'filtered_by_workflow_rules',
    'The pipeline did not run. Review the workflow:rules configuration for the pipeline.',
  ],
]

test('planning refuses what it cannot create, with its reason', async () => {
  for (const [configuration, reason, text] of PLANNED) {
    const limits = reason === 'size_limit_exceeded' ? { pipeline_size: 20 } : {}
    assert.deepEqual(await planOrRefuse(configuration, { limits }), { errors: [text], reason }, configuration)
  }
})
