import AtomicStores
import Commands
import Containers
import Curses
import Files
import Interface
import ManagedModel
import ModelSearch
import Terminal

/// What leads to a loop, and from one to the next: a store, and the choice of another.
extension Runtime {
  /// What the command line asks of the interface.
  struct Request: Sendable {
    /// The store, or a folder to pick one from; the recent stores and the present folder without.
    var path: String?
    /// What stands behind it: the store that the first has become, or another model to compare.
    var other: String?
    /// What `--model` named.
    var model: String?
    /// Name of a theme, or path of a theme file.
    var theme: String?
    /// What `--to` named.
    var destination: String?
    /// What `--via` and `--mapping` named.
    var plan = PlanOptions()
    /// What `--password-file` named.
    var passwordFile: String?
    /// Whether to start without the last session.
    var isFresh = false
    /// Whether how the store is left is kept for the next time.
    var keepsSession = true

    /// What is to be compared in the place of a store: both, where the name of either says that it is of a model.
    var models: [String] {
      let both = [path, other].compactMap { $0 }
      let isAny = both.contains { text in
        let name = FileSystem.name(of: ModelReference(text).path)
        return StoreFileName.isModelBundle(name) || name.hasSuffix(".mom")
          || SwiftSources.isFile(name)
      }
      return isAny ? both : []
    }

    /// What does the same without a terminal where it is not a store alone.
    var command: String? {
      if let path, let other, models.isEmpty { return ShellText.command("compare", path, other) }
      return models.isEmpty
        ? nil : ShellText.command([models.count > 1 ? "diff" : "model"] + models)
    }

    /// Where to pick another than this: the folder it is in, or the container.
    static func place(toPickFrom path: String) -> String {
      if case .inside(let container, _) = StoreLocation(path) { return container }
      return FileSystem.parent(of: path) ?? "."
    }

    /// To pick another store in the folder of one: what was said of that one does not hold for it.
    func forOther(than path: String) -> Request {
      var request = self
      request.path = Self.place(toPickFrom: path)
      request.other = nil
      request.model = nil
      request.destination = nil
      request.plan = PlanOptions()
      return request
    }
  }

  /// A store, the folder or the container to pick one from, or models to compare.
  private enum Way {
    case store(String)
    case picker(String?)
    case models([String])
  }

  private static func way(_ request: Request, _ passwords: BackupPasswords) throws -> Way {
    guard let given = request.path else { return .picker(nil) }
    if !request.models.isEmpty { return .models(request.models) }
    let path = request.other ?? given
    switch StoreLocation(path) {
    case .file: return .store(path)
    case .folder: return .picker(path)
    case .inside(_, .some): return .store(path)
    case .inside(let container, nil):
      // The only one is what is meant.
      let stores = try Interruption.removingCopies {
        try Container(container, unlocking: passwords.unlocking()).stores()
      }
      return stores.count == 1 ? .store(container + "//" + stores[0].name) : .picker(container)
    }
  }

  /// Opens the interface and returns when it is left.
  ///
  /// To be called on the main thread.
  nonisolated static func open(_ request: Request, console: Console) throws -> CommandStatus {
    guard console.isTerminal else {
      if let command = request.command {
        throw CoreDataError(
          .usage, "the interface needs a terminal, and standard output is not one",
          hint: "Use a command such as: \(command)")
      }
      guard let path = request.path, case .file = StoreLocation(path) else {
        throw CoreDataError(
          .usage, "the choice of a store needs a terminal, and standard output is not one",
          hint: "Name a store: strata info STORE; strata stores PATH lists what is in a container.")
      }
      // What is wrong with the store is the better answer.
      _ = try StoreOpening.open(path, model: request.model)
      throw CoreDataError(
        .usage, "the interface needs a terminal, and standard output is not one",
        hint:
          "Use a command such as: \(ShellText.command("info", path)); or \(ShellText.command("--plain", path))"
      )
    }
    return try MainActor.assumeIsolated { try open(request) }
  }

  private static func open(_ request: Request) throws -> CommandStatus {
    var request = request
    var showsRecent = request.path == nil
    var theme: String?
    var mistake: CoreDataError?
    let passwords = BackupPasswords(
      file: request.passwordFile, on: .process, ring: BackupPasswords.ringOfInterface)
    /// - Returns: the status to end with; `nil` where another store is to be picked.
    func show(_ path: String) throws -> CommandStatus? {
      var path = path
      while true {
        // Until another is shown; then it is gone.
        let (copy, name) = try opened(path, model: request.model, passwords)
        let former =
          try request.other == nil
          ? nil : request.path.map { try opened($0, model: request.model, passwords) }
        let store = try Runtime(
          request, storePath: name, copy: copy,
          against: former.map { $0.copy?.path ?? $0.name }, theme: theme)
        let warning = copy?.warning
        store.state.notice = store.state.notice ?? warning.map { Notice($0, .warning) }
        let ending = try withExtendedLifetime((copy, former)) { try store.run() }
        guard ending.chosen != nil || ending.isLeftForOther else { return ending.status }
        theme = store.state.themeName
        showsRecent = true
        request = request.forOther(than: path)
        guard let next = ending.chosen else { return nil }
        // One that was made of this.
        path = next
      }
    }
    switch try way(request, passwords) {
    case .models(let models):
      let session = try Runtime(request, storePath: nil, models: models, theme: theme)
      let ending = try session.run()
      guard ending.isLeftForOther else { return ending.status }
      theme = session.state.themeName
      showsRecent = true
      request = request.forOther(than: ModelReference(models[0]).path)
    case .store(let path): if let status = try show(path) { return status }
    case .picker(let folder): (request.path, request.other) = (folder, nil)
    }
    while true {
      let picker = try Runtime(request, storePath: nil, showsRecent: showsRecent, theme: theme)
      if let mistake { picker.state.tell(mistake) }
      mistake = nil
      let ending = try picker.run()
      theme = picker.state.themeName
      guard let path = ending.chosen else { return ending.status }
      do {
        if let status = try show(path) { return status }
      } catch let error as CoreDataError {
        // One that cannot be opened is reported where another can be chosen.
        mistake = error
        request.path = Request.place(toPickFrom: path)
      }
    }
  }

  /// The private copy that is read in place of a store, and what the person calls it.
  private static func opened(
    _ path: String, model: String?, _ passwords: BackupPasswords
  ) throws -> (copy: (any ReadCopy)?, name: String) {
    guard case .inside(let container, let inner) = StoreLocation(path) else {
      guard AtomicStoreForm(at: path) != nil else { return (nil, path) }
      return (
        try Interruption.removingCopies {
          try GivenStores.atomicCopy(of: path, model: model, .process)
        }, path
      )
    }
    return try Interruption.removingCopies {
      let copy = try GivenStores.copy(of: inner, in: container, passwords, .process)
      let name = copy.container + "//" + copy.name
      guard AtomicStoreForm(at: copy.path) != nil else { return (copy, name) }
      let store = try GivenStores.atomicCopy(of: copy.path, model: model, .process)
      return (ContainedAtomicCopy(store, of: copy), name)
    }
  }

  /// What a run ended in.
  struct Ending {
    var status: CommandStatus
    /// The store that was picked.
    var chosen: String?
    var isLeftForOther: Bool
  }
}

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
