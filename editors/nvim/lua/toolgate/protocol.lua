---@meta
-- Generated from protocol/src by `cargo run -p toolgate-tests --bin generate`.

---An agent: the session's main model or a nested one.
---@alias toolgate.AgentId string

---What is asked.
---@alias toolgate.Ask toolgate.Ask.permission|toolgate.Ask.repetition|toolgate.Ask.trust

---May this call run?
---@class toolgate.Ask.permission: toolgate.PermissionAsk
---@field kind "permission"

---The same call failed in the same way several times: go on?
---@class toolgate.Ask.repetition
---@field callId toolgate.CallId The call that failed last.
---@field kind "repetition"
---@field options toolgate.AskOption[] What may be answered.
---@field text string What happened, for the person.

---May this workspace contribute rules, hooks and servers?
---@class toolgate.Ask.trust
---@field folder string The folder.
---@field kind "trust"
---@field options toolgate.AskOption[] What may be answered.
---@field wants string[] What it wants to contribute, one line each.

---`toolgate/ask/answer`: what the person said.
---@class toolgate.AskAnswerParams
---@field askId toolgate.AskId The prompt.
---@field digest string The digest that the prompt carried.
---@field hunks? toolgate.HunkChoice[] For a diff: the hunks that the person takes or refuses. A hunk that is not named follows the option.
---@field input? any The input as the person changed it.
---@field message? string|nil A word to the model.
---@field option toolgate.OptionKind What was chosen.

---The answer to `toolgate/ask/answer`. A refused answer (other digest, closed prompt) is an LSP error that says who decided.
---@class toolgate.AskAnswerResult
---@field askId toolgate.AskId The prompt that is now closed.

---`toolgate/ask/closed`: the prompt is over, everywhere.
---@class toolgate.AskClosed
---@field askId toolgate.AskId The prompt.
---@field by toolgate.ClosedBy How it ended.
---@field sessionId toolgate.SessionId The session that asked.

---One question to the person.
---@alias toolgate.AskId string

---`toolgate/ask/opened`: the person is asked.
---@class toolgate.AskOpened
---@field agentId? toolgate.AgentId|nil The nested agent that asks, if it is not the main one.
---@field ask toolgate.Ask What is asked.
---@field askId toolgate.AskId The prompt's name; an answer carries it.
---@field sessionId toolgate.SessionId The session that asks.

---One thing that may be answered.
---@class toolgate.AskOption
---@field label string For the person.
---@field option toolgate.OptionKind What it means.
---@field rules? string[] The rules it would save or use, as written.

---One tool call. Ours, never the provider's.
---@alias toolgate.CallId string

---What kind of call it is; chooses the icon. Names are those of the Agent Client Protocol.
---@alias toolgate.CallKind "read"|"edit"|"delete"|"search"|"execute"|"think"|"fetch"|"other"

---The states of a call (spec: architecture.md). An ended call is told by `call_settled`.
---@alias toolgate.CallState "arrived"|"fitting"|"hooking"|"asking"|"waiting"|"running"|"stopping"

---How a call ended.
---@alias toolgate.CallStatus "completed"|"failed"|"refused"|"denied"|"cancelled"|"unknown"

---The SDK's view of one call.
---@class toolgate.CallView
---@field callId toolgate.CallId The call.
---@field content? toolgate.Content|nil What is drawn; absent while the call is open.
---@field input any The input as the model wrote it.
---@field modelText? string|nil What the model got; absent while the call is open.
---@field structured? any The structured output, with the field names of the tool's output.
---@field tool string The tool's name.

---`toolgate/session/cancelCall`.
---@class toolgate.CancelCallParams
---@field callId toolgate.CallId The call.
---@field sessionId toolgate.SessionId The session.

---`initializationOptions.toolgate`: what the client can do.
---@class toolgate.ClientHello
---@field protocol? integer The protocol's version: 1.
---@field settings? any Settings, keys as in the settings reference, nested by dots.
---@field ui? toolgate.Ui What the client shows and does itself.

---How a prompt ended.
---@alias toolgate.ClosedBy "answered"|"withdrawn"|"expired"

---A payload too large for one message (64 KiB): its first part, and where the rest is read.
---@class toolgate.Content
---@field contentRef? string|nil Name under which `toolgate/call/output` pages the whole.
---@field payload toolgate.Payload What is shown; only the beginning when `content_ref` is there.
---@field totalBytes? integer|nil Size of the whole in bytes, when `content_ref` is there.

---A change of one file, as hunks.
---@class toolgate.Diff
---@field creates boolean True when the file does not exist before the change.
---@field hunks toolgate.Hunk[] The hunks, in order, not overlapping.
---@field path string Absolute path.
---@field uri? string|nil The document's URI when it is open in the editor.
---@field version? integer|nil The LSP version of the open document that the line numbers speak of.

---`toolgate/document/edit` (sidecar → client): a checked edit of an open document, in one tick of the editor, as one undo step. The client refuses unless version and hash are both those of its buffer and every `oldLines` stands where the hunk says.
---@class toolgate.DocumentEditParams
---@field edits toolgate.LineEdit[] What is replaced: in order, not overlapping, all lines of the text before the edit.
---@field hash string SHA-256 (hex) of the text with LF line endings and without BOM, as the mirror has it.
---@field label string For the undo list.
---@field uri string The document.
---@field version integer The LSP version that the sidecar's mirror has.

---The answer to `toolgate/document/edit`.
---@class toolgate.DocumentEditResult
---@field applied boolean False: nothing was changed.
---@field hash string SHA-256 (hex) of the buffer's text now, LF line endings, without BOM.
---@field reason? string|nil Why nothing was changed.
---@field version integer The buffer's version now.

---`toolgate/document/save` (sidecar → client).
---@class toolgate.DocumentSaveParams
---@field uri string The document.

---The answer to `toolgate/document/save`.
---@class toolgate.DocumentSaveResult
---@field reason? string|nil Why not.
---@field saved boolean True: it is on disk.

---An answer that says only that the request was done.
---@alias toolgate.Empty table

---`toolgate/call/get`.
---@class toolgate.GetCallParams
---@field callId toolgate.CallId The call.
---@field sessionId toolgate.SessionId The session.

---One group of changed lines.
---@class toolgate.Hunk
---@field hunkId toolgate.HunkId Its name.
---@field newLines string[] The lines that come, without line endings.
---@field newStart integer First line of the new text in the result, counted from 0.
---@field oldLines string[] The lines that go, without line endings.
---@field oldStart integer First line that goes, counted from 0. With no old lines: the line before which the new lines are put.
---@field state toolgate.HunkState Where the hunk stands.

---What the person said of one hunk.
---@class toolgate.HunkChoice
---@field accept boolean True: it is written.
---@field hunkId toolgate.HunkId The hunk.

---One hunk of a proposed or applied edit.
---@alias toolgate.HunkId string

---Where a hunk stands (spec: protocol.md, `toolgate/review/*`).
---@alias toolgate.HunkState "proposed"|"accepted"|"rejected"|"conflict"|"applied"|"kept"|"reverted"

---Whole lines that are replaced.
---@class toolgate.LineEdit
---@field finalNewline? boolean|nil Present when the edit touches the end of the text: whether the text ends with a line ending afterwards.
---@field newLines string[] The lines that come, without endings. The client uses the document's own line ending.
---@field oldLines string[] The lines that go, without endings.
---@field startLine integer First line that goes, counted from 0; with no old lines, the line before which the new ones are put.

---`toolgate/session/list`.
---@class toolgate.ListSessionsParams
---@field query? string|nil Only sessions whose title holds this text.
---@field workspace? string|nil Only sessions of this folder.

---The answer to `toolgate/session/list`, newest first.
---@class toolgate.ListSessionsResult
---@field sessions toolgate.SessionSummary[] The sessions.

---`toolgate/session/load`.
---@class toolgate.LoadSessionParams
---@field sessionId toolgate.SessionId The session.
---@field since? toolgate.Since|nil What the client has already.

---The answer to `toolgate/session/load`.
---@class toolgate.LoadSessionResult
---@field asks toolgate.AskOpened[] Prompts that are open now.
---@field more boolean True: more follows; call again with `since` = the last update of this page.
---@field reset boolean True: forget what you have, `updates` tells everything from the start.
---@field session toolgate.SessionInfo The session.
---@field updates toolgate.SessionUpdate[] What the client missed, in order, at most one page.

---One search hit.
---@class toolgate.Match
---@field line integer Line, counted from 1.
---@field path string Absolute path.
---@field text string The line's text.

---The permission mode (spec: permissions.md 1.2).
---@alias toolgate.Mode "default"|"acceptEdits"|"plan"|"dontAsk"|"bypassPermissions"

---`toolgate/session/new`.
---@class toolgate.NewSessionParams
---@field cwd? string|nil Working directory; the first workspace folder by default.
---@field mode? toolgate.Mode|nil Permission mode; the setting by default.
---@field model? string|nil Model; the setting by default.

---How grave a notice is.
---@alias toolgate.NoticeLevel "info"|"warning"|"error"

---What an option means.
---@alias toolgate.OptionKind "reject_once"|"reject_always"|"reject_and_stop"|"allow_once"|"allow_session"|"allow_always"

---The answer to `toolgate/call/output`.
---@class toolgate.OutputPage
---@field next? integer|nil Where the next page begins; absent at the end.
---@field text string The text of the page.
---@field totalBytes integer Size of the whole in bytes.

---`toolgate/call/output`: a page of a large payload.
---@class toolgate.OutputParams
---@field contentRef string The name that came in `contentRef`.
---@field offset? integer Where to begin, in bytes; moved back to the start of a character.
---@field sessionId toolgate.SessionId The session.

---What an editor draws for a call, a prompt or an outcome.
---@alias toolgate.Payload toolgate.Payload.text|toolgate.Payload.markdown|toolgate.Payload.diff|toolgate.Payload.terminal|toolgate.Payload.file_list|toolgate.Payload.matches|toolgate.Payload.json|toolgate.Payload.image|toolgate.Payload.plan|toolgate.Payload.fallback

---Plain text.
---@class toolgate.Payload.text
---@field kind "text"
---@field text string The text.

---Markdown.
---@class toolgate.Payload.markdown
---@field kind "markdown"
---@field text string The Markdown source.

---A change of one file.
---@class toolgate.Payload.diff: toolgate.Diff
---@field kind "diff"

---What a command printed.
---@class toolgate.Payload.terminal: toolgate.Terminal
---@field kind "terminal"

---A list of files.
---@class toolgate.Payload.file_list
---@field files string[] Absolute paths.
---@field kind "file_list"
---@field total integer How many there are in all, when `files` is cut.

---Search hits.
---@class toolgate.Payload.matches
---@field kind "matches"
---@field matches toolgate.Match[] Hits, grouped by file in the order found.
---@field total integer How many there are in all, when `matches` is cut.

---Any JSON value.
---@class toolgate.Payload.json
---@field kind "json"
---@field value any The value.

---An image.
---@class toolgate.Payload.image
---@field data? string|nil The bytes in base64; absent when only a reference is sent.
---@field kind "image"
---@field media_type string For instance `image/png`.

---The model's plan.
---@class toolgate.Payload.plan
---@field entries toolgate.PlanEntry[] The entries, in the model's order.
---@field kind "plan"

---Something that did not fit its own payload: shown as text, never dropped.
---@class toolgate.Payload.fallback
---@field kind "fallback"
---@field text string The text.

---May this call run?
---@class toolgate.PermissionAsk
---@field callId toolgate.CallId The call.
---@field callKind toolgate.CallKind What kind of call it is.
---@field content toolgate.Content The whole command, diff or input. While `content_ref` is there, allow options stay disabled until all its pages were fetched and shown.
---@field digest string blake3 of what would run: an answer must repeat it.
---@field modelDescription? string|nil A text that the model wrote about the call, marked as such; never the basis of a decision.
---@field options toolgate.AskOption[] What may be answered, the safest first.
---@field title string Made from the input, plain text, control characters escaped.
---@field tool string The tool's name.
---@field traits toolgate.Traits What the call would do.
---@field why toolgate.Why Why it asks.

---One entry of the model's plan.
---@class toolgate.PlanEntry
---@field activeForm string How it is said while it is being done.
---@field content string What is to be done.
---@field status toolgate.PlanStatus How far it is.

---How far an entry of the plan is.
---@alias toolgate.PlanStatus "pending"|"in_progress"|"completed"

---One part of a prompt.
---@alias toolgate.PromptBlock toolgate.PromptBlock.text|toolgate.PromptBlock.image|toolgate.PromptBlock.resource_link|toolgate.PromptBlock.selection

---Text.
---@class toolgate.PromptBlock.text
---@field text string The text.
---@field type "text"

---An image.
---@class toolgate.PromptBlock.image
---@field data string The bytes in base64.
---@field mediaType string For instance `image/png`.
---@field type "image"

---A file the model should look at.
---@class toolgate.PromptBlock.resource_link
---@field type "resource_link"
---@field uri string Its URI.

---What is selected in the editor.
---@class toolgate.PromptBlock.selection
---@field endLine integer Last line, counted from 0.
---@field startLine integer First line, counted from 0.
---@field text string The selected text.
---@field type "selection"
---@field uri string The document's URI.

---`toolgate/session/prompt`. Answered at once; the turn's end is the update `turn_ended`.
---@class toolgate.PromptParams
---@field content toolgate.PromptBlock[] What the person says.
---@field sessionId toolgate.SessionId The session.
---@field when? toolgate.When What becomes of a turn that runs.

---The answer to `toolgate/session/prompt`.
---@class toolgate.PromptResult
---@field turnId toolgate.TurnId The turn that takes the prompt.

---The hunks of one call in one file.
---@class toolgate.Review
---@field callId toolgate.CallId The call.
---@field diff toolgate.Diff The file and its hunks.

---`toolgate/review/list`: what is proposed or applied.
---@class toolgate.ReviewListResult
---@field reviews toolgate.Review[] One entry a call and file.

---`capabilities.experimental.toolgate`: what the sidecar is.
---@class toolgate.ServerHello
---@field epoch string This process; `seq` counts within it.
---@field protocol integer The protocol's version: 1.
---@field version string The sidecar's version.

---A session: one transcript and its state.
---@alias toolgate.SessionId string

---The session that was made or loaded.
---@class toolgate.SessionInfo
---@field cwd string Working directory.
---@field epoch string This process.
---@field mode toolgate.Mode Permission mode.
---@field model string Model.
---@field sessionId toolgate.SessionId Its name.
---@field turnId? toolgate.TurnId|nil The turn that runs, if one does.

---Names one session: `close`, `delete`, `cancel`.
---@class toolgate.SessionParams
---@field sessionId toolgate.SessionId The session.

---One row of a list of sessions.
---@class toolgate.SessionSummary
---@field cwd string Working directory.
---@field sessionId toolgate.SessionId Its name.
---@field title string The beginning of the first prompt.
---@field updated string Last change, in RFC 3339.

---`toolgate/session/update`.
---@class toolgate.SessionUpdate
---@field agentId? toolgate.AgentId|nil The nested agent it is about, if it is not the main one.
---@field epoch string One sidecar process; another epoch means that `seq` starts again.
---@field parentCallId? toolgate.CallId|nil The call that the nested agent serves.
---@field seq integer Grows by one with every update of the session.
---@field sessionId toolgate.SessionId The session.
---@field update toolgate.Update What happened.

---`toolgate/session/setMode`.
---@class toolgate.SetModeParams
---@field mode toolgate.Mode The mode.
---@field sessionId toolgate.SessionId The session.

---`toolgate/session/setModel`.
---@class toolgate.SetModelParams
---@field model string The model's name.
---@field sessionId toolgate.SessionId The session.

---The last update a client has.
---@class toolgate.Since
---@field epoch string The sidecar process it came from.
---@field seq integer Its number.

---`toolgate/status`: what a health check shows.
---@class toolgate.StatusResult
---@field openDocuments integer Documents that the editor has open.
---@field problems string[] What is wrong, one line each; empty when all is well.
---@field provider string The provider and model, and whether a key was found.
---@field ready boolean True when requests can be sent (a key is there, or none is needed).
---@field sessions integer Sessions that are loaded.
---@field version string The sidecar's version.

---Why a turn ended.
---@alias toolgate.StopReason "end_turn"|"max_tokens"|"max_turn_requests"|"refusal"|"cancelled"|"repetition"|"error"

---What a command printed, as the panel shows it.
---@class toolgate.Terminal
---@field command string The command line.
---@field exitCode? integer|nil Exit code, once it ended by itself.
---@field output string Output in order of arrival; escape sequences other than colours are removed.
---@field truncated boolean True when `output` is only a part of it.

---What a call would do (spec: call-lifecycle.md, "Traits").
---@class toolgate.Traits
---@field destructive boolean Hard to undo.
---@field openWorld boolean Crosses the machine's boundary.
---@field readOnly boolean Changes nothing.

---A turn: from a prompt to the model's last word.
---@alias toolgate.TurnId string

---What a client shows and does itself; everything else falls back to plain LSP.
---@class toolgate.Ui
---@field diagnostics? boolean Answers `toolgate/diagnostics`.
---@field edit? boolean Answers `toolgate/document/edit`.
---@field permission? boolean Shows `toolgate/ask/opened` of kind `permission`.
---@field question? boolean Shows the model's questions.
---@field render? string[] Kinds of renderer payload it draws; others come as `fallback`.
---@field review? boolean Shows hunks in the buffer.
---@field save? boolean Answers `toolgate/document/save`.

---What happened in a session.
---@alias toolgate.Update toolgate.Update.turn_started|toolgate.Update.user_message|toolgate.Update.agent_message_delta|toolgate.Update.thought_delta|toolgate.Update.call_started|toolgate.Update.call_state|toolgate.Update.call_progress|toolgate.Update.call_settled|toolgate.Update.tools_changed|toolgate.Update.review_changed|toolgate.Update.plan|toolgate.Update.mode|toolgate.Update.model|toolgate.Update.usage|toolgate.Update.files_changed|toolgate.Update.notice|toolgate.Update.turn_ended

---A turn began.
---@class toolgate.Update.turn_started
---@field kind "turn_started"
---@field turnId toolgate.TurnId The turn.

---What the person said.
---@class toolgate.Update.user_message
---@field kind "user_message"
---@field text string The text.

---More of the model's answer.
---@class toolgate.Update.agent_message_delta
---@field kind "agent_message_delta"
---@field text string Text to append.

---More of the model's thinking.
---@class toolgate.Update.thought_delta
---@field kind "thought_delta"
---@field text string Text to append.

---The model wrote a complete call.
---@class toolgate.Update.call_started
---@field callId toolgate.CallId The call.
---@field callKind toolgate.CallKind What kind of call it is.
---@field kind "call_started"
---@field locations? string[] The files it is about, absolute.
---@field title string Made from the input, for the person.
---@field tool string The tool's name as the model wrote it.

---The call is in another state, or waits for another reason.
---@class toolgate.Update.call_state
---@field callId toolgate.CallId The call.
---@field kind "call_state"
---@field state toolgate.CallState Its state.
---@field waits? string|nil Why it waits, for the person: "after Edit a.rs", "your approval".

---The call goes on.
---@class toolgate.Update.call_progress
---@field bytes? integer|nil Bytes of output so far.
---@field callId toolgate.CallId The call.
---@field kind "call_progress"
---@field text string The newest lines of output, or what it is doing.

---The call has its outcome.
---@class toolgate.Update.call_settled
---@field callId toolgate.CallId The call.
---@field content toolgate.Content What is drawn.
---@field durationMs integer Milliseconds from start to end; 0 if it never started.
---@field kind "call_settled"
---@field status toolgate.CallStatus Whether it did what it should.
---@field why? toolgate.Why|nil Who decided, if a decision was made.

---The tool set changed.
---@class toolgate.Update.tools_changed
---@field kind "tools_changed"
---@field tools string[] The names, in the order sent to the model.

---Hunks changed their state.
---@class toolgate.Update.review_changed
---@field callId toolgate.CallId The call they belong to.
---@field diff toolgate.Diff The file and its hunks as they are now.
---@field kind "review_changed"

---The model's plan changed.
---@class toolgate.Update.plan
---@field entries toolgate.PlanEntry[] All entries.
---@field kind "plan"

---The permission mode changed.
---@class toolgate.Update.mode
---@field kind "mode"
---@field mode toolgate.Mode The mode.

---The model changed.
---@class toolgate.Update.model
---@field kind "model"
---@field model string The model's name.

---Tokens used.
---@class toolgate.Update.usage: toolgate.Usage
---@field kind "usage"

---Files that calls changed.
---@class toolgate.Update.files_changed
---@field files string[] Absolute paths.
---@field kind "files_changed"

---Something the person should know: a retry, a limit, a fault.
---@class toolgate.Update.notice
---@field kind "notice"
---@field level toolgate.NoticeLevel How grave it is.
---@field text string For the person.

---The turn is over.
---@class toolgate.Update.turn_ended
---@field kind "turn_ended"
---@field message? string|nil An explanation, where the reason needs one.
---@field stopReason toolgate.StopReason Why it ended.
---@field turnId toolgate.TurnId The turn.
---@field usage toolgate.Usage Tokens of the whole turn.

---Tokens used.
---@class toolgate.Usage
---@field cacheReadTokens integer Tokens read from the cache.
---@field cacheWriteTokens integer Tokens put into the cache.
---@field inputTokens integer Tokens read that were not in the cache.
---@field outputTokens integer Tokens written.

---What a prompt does to a turn that runs (spec: model-loop.md, "Interruption").
---@alias toolgate.When "next_request"|"steer"|"interrupt"|"after_turn"

---Why a call was allowed, asked about or denied.
---@class toolgate.Why
---@field rule? string|nil The rule that decided, as written.
---@field source? string|nil Where the rule stands: `flag`, `session`, `built-in`, or a file.
---@field text string For the person.
