import Curses
import Interface
import ManagedModel
import Terminal

extension Runtime {
  /// What needs no store, while that is being opened by another thread.
  func prepare() throws {
    Digest.prepare()
    do {
      theme = try themes.theme(named: state.themeName)
    } catch let error as CoreDataError where error.kind == .unreadable || !isThemeAsked {
      // A look is no reason not to start.
      state.notice = state.notice ?? Notice(error.description, .warning)
      state.themeName = Theme.mono.name
      theme = .mono
    }
    CursesScreen.knows(Output.environment("TERM") ?? "")
    // The first drawing makes what all others use.
    var grid = Grid(state.size, base: theme[.text])
    Interface.draw(state, with: theme, in: &grid)
  }
}
