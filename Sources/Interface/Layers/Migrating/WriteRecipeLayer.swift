import ManagedModel
import Terminal

/// Asks for the file that a recipe is written to.
struct WriteRecipeLayer: PromptingLayer {
  var file: RecipeFile
  var prompt: Prompt
  /// Why the last try did not write it.
  var problem: CoreDataError?

  init(_ file: RecipeFile, problem: CoreDataError? = nil) {
    self.file = file
    self.problem = problem
    prompt = Prompt(file.path)
  }

  /// Whether the file is there already, and Enter on the same name writes over it.
  var overwrites: Bool { problem?.kind == .refused && prompt.text == file.path }

  func bindings(_ state: State) -> [Binding] {
    let isEmpty = prompt.text.allSatisfy(\.isWhitespace)
    return [
      Binding(
        [.enter], overwrites ? "overwrite it" : "write", .confirm,
        unless: isEmpty ? "there is no name" : nil),
      Binding([.escape], "close", .close),
    ]
  }

  func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    guard action == .confirm else { return .stay() }
    var file = file
    file.overwrites = overwrites
    file.path = prompt.text
    return .close(state.on(MappingScreen.self) { $0.write(file, in: &$1) })
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    var text = "The mapping as a recipe, for --mapping FILE. It can be read, changed and reviewed."
    var role = Theme.Role.dim
    if let problem {
      text =
        overwrites
        ? "! The file is there already. Enter writes over it; another name leaves it."
        : "✗ \(problem.message)" + (problem.typedHint.map { " → \($0)" } ?? "")
      role = overwrites ? .warning : .error
    }
    draw(
      "Write the recipe to", text, width: 72, style: theme[role],
      mark: Span("› ", theme[.footerKey]), with: theme, in: &grid, rect)
  }
}
