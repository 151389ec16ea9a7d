import Lint
import ManagedModel
import ManagedStore
import Migration
import Terminal

/// Something to be done outside: each with a task's id is answered by messages with the same.
package enum Effect: Sendable, Equatable {
  /// Opens the store, or opens it again after its file was replaced.
  case open(TaskID)
  /// Opens the store again where it stands, since another program saved to it; answered as `open` is.
  case refresh(TaskID)
  case ask(TaskID, StoreRequest)
  case find(TaskID, FileRequest)
  case compute(TaskID, Computation)
  /// Finds out how objects are called.
  case names(TaskID, LabelRequest)
  case versions(TaskID)
  case plan(TaskID, PlanRequest)
  /// - confirms: whether the cut-over waits for an answer.
  case migrate(TaskID, MigrationPlan, MigrationOptions, confirms: Bool)
  /// Answers a migration that is verified and waits.
  case confirmCutover(TaskID, Bool)
  /// Puts right what an interrupted run left.
  case recover(TaskID)
  case rollBack(TaskID, StoreRollback.Options)
  /// Writes a receipt as JSON; refused where a file is there, unless it is to be replaced.
  case writeReceipt(TaskID, WrittenReceipt, text: String, path: String, replaces: Bool)
  // Rescue
  /// Has doctor look at the store; then counts what of its objects can be had.
  case diagnose(TaskID)
  case rescue(TaskID, RescueWork)
  /// Has a person change a text in the editor of their own.
  case editText(TaskID, String)
  /// Writes the prepared changes on a private copy, to see what comes of it.
  case checkEdit(TaskID, EditOrder)
  /// Has Browse read what was deleted, or the store itself again.
  case readRemains(Bool)
  /// Finds out where rows of the remains come from.
  case sources(TaskID, [ObjectID])
  // Diff and Mapping
  /// Runs a plan on a copy that goes away; answered as `migrate` is.
  case rehearse(TaskID, MigrationPlan, MigrationOptions)
  case writeRecipe(TaskID, RecipeFile)
  /// Compares another file, as it was before, with the store.
  case compare(TaskID, with: String)
  case writeChanges(TaskID, ChangesFile)
  /// Makes one store of the open one and another, or finds out what that would be.
  case merge(TaskID, MergeOrder)
  // Files
  /// Opens an encrypted backup with a password.
  case unlock(TaskID, path: String, Secret)
  /// Goes on with the store at this path; without one the store is left for the choice of another.
  case choose(String?)
  case cancel(TaskID)
  /// Remembers the theme for the next start.
  case keepTheme(String)
  /// Makes a picture that an attribute holds fit.
  case picture(TaskID, ObjectID, property: String, fitting: Size)
  /// Makes the text that is to be copied.
  case copyText(TaskID, CopyForm, CopySubject)
  case export(TaskID, ExportRequest)
  /// Writes a value to a new file; refused where a file is there.
  case writeValue(TaskID, ValueOutput)
  /// Sends a text to the terminal's clipboard.
  case copy(String)
  case repaint
  case suspend
  case quit
}

/// What is looked for in files besides the open store.
package enum FileRequest: Sendable, Equatable {
  /// The versions at a path, or the one that `PATH@VERSION` or `PATH@REVISION` names.
  case models(path: String)
  case completions(path: String)
  /// Commits that changed the model at a path.
  case revisions(path: String)
  /// Lists a folder, and then looks at what is in it.
  case folder(String)
  case recentStores
  /// Other stores in the folder of this one.
  case siblings
  /// The content of a file.
  case bytes(path: String)
  /// The backups beside the store.
  case backups
  /// What a change of the store would keep, and the room that it takes.
  case footprint(Footprint.Request)
  /// The themes there are, their files read again.
  case themes
}

/// What follows from models and plans and takes long.
package enum Computation: Sendable, Equatable {
  case compare(from: Model, to: Model)
  /// Has the rules of lint look at two versions, and at what lies around them.
  case lint(from: LintComparison.Side, to: LintComparison.Side, mappings: [String])
  case statements(MigrationPlan)

  /// Works it out, away from the loop.
  package func answer() throws -> Answer {
    switch self {
    case .compare(let from, let to): return .compared(Comparison(from: from, to: to))
    case .lint(let from, let to, let mappings):
      return .linted(try LintComparison(from: from, to: to, mappings: mappings))
    case .statements(let plan): return .statements(try StoreMigration.statements(of: plan))
    }
  }
}
