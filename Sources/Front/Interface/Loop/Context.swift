import ManagedModel
import Migration
import Terminal

/// The facts that all components share: the store, the versions of its model, the terminal, the settings.
package struct Known: Sendable, Equatable {
  /// The cells of the terminal.
  package var size: Size
  /// The store's path as the person gave it, for the command lines that are shown.
  let storePath: String
  /// Where it lies if it is a private copy of a store in a container: nothing is put in its place.
  package var copy: CopyPlace?
  /// The store that this one is compared with from the start, as it was before.
  package var against: String?
  /// The models that are compared without a store, as they were named; empty where a store is opened.
  package var models: [String] = []
  /// `nil` while it is being opened, and for one that does not open.
  package var store: StoreSummary?
  /// Why the store does not open at all; Rescue is all there is of it then.
  package var refusal: CoreDataError?
  var versions: [ModelVersion] = []
  /// What other programs did to the store since it was opened.
  var news = StoreNews()
  /// What is done when another program saves to it.
  package var refreshMode = RefreshMode.live
  /// Changes of objects that are prepared and not written.
  var prepared = PreparedEdits()
  /// What was deleted from the store, and can be looked at in its place.
  @Boxed var remains = RemainsView()
  /// What `--via` and `--mapping` named.
  package var planOptions = PlanOptions()
  /// What is wrong with the configuration, for the help page.
  package var configurationProblems: [String] = []
  var dividers = Dividers()
  /// The theme that everything is drawn in.
  package var themeName: String
  /// What the terminal shows: pictures take 256 colours.
  package var colors = ColorDepth.none
  var openTask: TaskID?
  var versionsTask: TaskID?

  init(storePath: String, size: Size, themeName: String) {
    (self.storePath, self.size, self.themeName) = (storePath, size, themeName)
  }

  /// Why what needs a store cannot be done; `nil` where one is opened.
  var noStore: String? { models.isEmpty ? nil : "no store is open: strata STORE opens one" }

  /// What is between header and footer.
  var body: Rect {
    Rect(y: 1, width: size.width, height: size.height - 2)
  }

  /// The models of two versions, where both are there and can be read.
  func models(from: Int?, to: Int?) -> (source: Model, destination: Model)? {
    guard let source = versions.element(from)?.model, let destination = versions.element(to)?.model
    else { return nil }
    return (source, destination)
  }

  /// Whether the versions beside the store are still being read, and with them what its model is
  /// called.
  var isReadingVersions: Bool { versionsTask != nil || openTask != nil }

  /// The name of the store's own model, as the versions beside it or its own identifiers say; `nil`
  /// where it has none, or while nobody knows it yet.
  var storeModelName: String? { isReadingVersions ? nil : modelName }

  /// What the model is called as far as is known now.
  package var modelName: String? {
    if let version = versions.first(where: { $0.isStores && !$0.path.isEmpty }) {
      return version.name
    }
    return store.flatMap { Model.name(ofIdentifiers: $0.model.versionIdentifiers) }
  }

  /// The store's path as a shell takes it.
  var storeArgument: String {
    ShellText.quoted(storePath) + (copy?.modelOption("--model") ?? "")
  }

  /// The command line that does something to the store: all of them that the interface names are made here.
  func command(_ name: String, _ rest: String = "") -> String {
    "strata \(name) \(storeArgument)" + (rest.isEmpty ? "" : " " + rest)
  }

  /// The store itself, whatever Browse shows.
  package var ownStore: StoreSummary? { remains.isShown ? remains.store : store }

  /// The command line that does the same to the rows in sight; none does to those that are not in the
  /// store.
  func rowCommand(_ command: String) -> String? { remains.isShown ? nil : command }

  /// A path as the person can type it.
  func named(_ path: String) -> String { copy?.named(path) ?? path }

  /// A failure with the path that the person can type.
  func named(_ error: CoreDataError) -> CoreDataError {
    var error = error
    error.path = error.path.map(named)
    return error
  }

  /// Puts the remains in the store's place, or the store in theirs.
  mutating func turnRemains() {
    (store, remains.store) = (remains.store, store)
    remains.isShown.toggle()
  }

  /// Adds versions that were read by path or out of git.
  fileprivate mutating func add(_ new: [ModelVersion]) {
    let known = Set(versions.map(\.path))
    versions += new.filter { !known.contains($0.path) }
  }
}

/// What a component gets while it works: the facts that all components share, and methods that ask for
/// everything else.
///
/// A component does not see other components; only Migrate reads Mapping, whose plan it runs. Requests
/// to others (another screen, a popup, the next screen) are collected here. ``State`` carries them out
/// in this order after it has stored the component again.
@dynamicMemberLookup
struct Context: Sendable {
  @Boxed private(set) var known: Known
  private let screens: Screens
  /// Whether a popup lies over the component.
  let isCovered: Bool
  let log: EventLog

  /// The screen in sight, or the next one.
  var screen: Screen
  /// What was just said.
  var notice: Notice?
  private var tasks: Tasks
  private var owner: Owner
  private var shown: [Layer] = []
  private var notes: [(text: String, kind: EventLog.Kind)] = []
  private var requests: [@Sendable (inout State) -> [Effect]] = []

  subscript<Value>(dynamicMember path: KeyPath<Known, Value>) -> Value { $known[path] }

  /// The Mapping screen, for its plan and target.
  var planned: MappingScreen { screens[MappingScreen.self] }

  /// The work that runs on the store, such as “the migration”; `nil` if none exists.
  var work: String? { screens.work }

  /// The same of one screen.
  func work(of screen: Screen) -> String? { screens[screen].work }

  /// Whether Rescue is checking the store.
  var isDiagnosing: Bool { screens[RescueScreen.self].lookTask != nil }

  /// Paths of the new stores that Rescue made.
  var made: Set<String> { screens[RescueScreen.self].made }

  /// A name beside the store, such as `Recipes-salvaged.sqlite`, that was not given to one yet; what is
  /// in a container has none beside it.
  ///
  /// - Parameter taken: names that were given; `nil`: those that the Rescue screen knows.
  func newStore(_ what: String, besides taken: Set<String>? = nil) -> String {
    let path = known.storePath
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let folder = known.copy?.isContained == true ? "" : String(path.dropLast(name.count))
    let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
    let (stem, own) = dot.map { (String(name[..<$0]), String(name[$0...])) } ?? (name, "")
    // What is made of an XML or binary store is of the SQLite type.
    let ending = known.copy?.whole == nil ? own : ".sqlite"
    let place = (path.hasSuffix("/") ? "" : folder) + stem + "-" + what
    let names = [place + ending] + (2...99).map { "\(place)-\($0)\(ending)" }
    let given = taken ?? made
    return names.first { !given.contains($0) } ?? names[0]
  }
}

/// What a component asks for.
extension Context {
  /// A new task of the component: its answers go to the component.
  mutating func newTask() -> TaskID { tasks.new(for: owner) }

  /// Starts an effect with a new task, and cancels the task that was in its place.
  mutating func ask(_ task: inout TaskID?, _ effect: (TaskID) -> Effect) -> [Effect] {
    let former = task.stop() ?? []
    let new = newTask()
    task = new
    return former + [effect(new)]
  }

  /// Puts a popup over what is there.
  mutating func show(_ content: some LayerContent) {
    _ = show(content) { _, _ in [] }
  }

  /// Puts a popup over what is there that begins by asking for something.
  mutating func show<Content: LayerContent>(
    _ content: Content, _ begin: (inout Content, inout Context) -> [Effect]
  ) -> [Effect] {
    var content = content
    let id = tasks.newLayer()
    let former = owner
    owner = .layer(id)
    let effects = begin(&content, &self)
    owner = former
    shown.append(Layer(id: id, content: content))
    return effects
  }

  /// Asks a question over what is there.
  mutating func confirm(_ confirmation: Confirmation) -> [Effect] {
    show(ConfirmLayer(confirmation)) { $0.begin(in: &$1) }
  }

  /// Adds to the log.
  mutating func note(_ text: String, _ kind: EventLog.Kind = .plain) { notes.append((text, kind)) }

  /// Has everything drawn in a theme.
  mutating func preview(theme: String) { known.themeName = theme }

  /// Adds versions without telling the screens.
  mutating func take(_ versions: [ModelVersion]) { known.add(versions) }

  /// Adds versions that were read by path or from git, and passes them to the screens.
  mutating func add(_ versions: [ModelVersion]) -> [Effect] {
    known.add(versions)
    return then { $0.meet(.moreVersions) + $0.entered() }
  }

  /// Collects a request for later.
  ///
  /// - Returns: no effects; those of the request follow the effects of the component.
  private mutating func then(_ request: @escaping @Sendable (inout State) -> [Effect]) -> [Effect] {
    requests.append(request)
    return []
  }

  /// Calls another screen, or the same one again.
  @discardableResult
  mutating func on<Content: ScreenContent>(
    _ type: Content.Type,
    _ work: @escaping @Sendable (inout Content, inout Context) -> [Effect]
  ) -> [Effect] {
    then { $0.on(type, work) }
  }

  /// Changes the open popups of a type.
  mutating func tell<Content: LayerContent>(
    _ type: Content.Type, _ change: @escaping @Sendable (inout Content) -> Void
  ) {
    _ = then { state in
      for index in state.layers.indices {
        guard var content = state.layers[index].content as? Content else { continue }
        change(&content)
        state.layers[index].content = content
      }
      return []
    }
  }

  mutating func go(to screen: Screen) -> [Effect] { then { $0.go(to: screen) } }

  /// Starts effects after those of the requests so far.
  mutating func begin(_ effects: [Effect]) -> [Effect] { then { _ in effects } }

  /// Opens the store again.
  mutating func reopen() -> [Effect] { then { $0.reopen() } }

  /// Opens the store again where it stands: it could not be read.
  mutating func refresh() -> [Effect] { then { $0.refresh() } }

  /// Switches Browse between the store and its deleted rows.
  mutating func turnRemains() -> [Effect] { then { $0.turnRemains() } }

  /// Marks what is different in another file.
  mutating func keep(_ differences: StoreDifferences) { known.news.keep(differences) }

  mutating func mark(against differences: StoreDifferences) {
    known.news.mark(against: differences)
  }

  /// Stores the deleted rows that were found.
  mutating func take(_ remains: Remains) {
    _ = then {
      $0.take(remains)
      return []
    }
  }

  /// Carries out the answer of a popup.
  mutating func run(_ intent: Intent, _ text: String = "") -> [Effect] {
    then { intent.run(text, in: &$0) }
  }

  /// Carries out an entry of the palette.
  mutating func run(_ entry: PaletteEntry) -> [Effect] {
    then {
      $0.paletteMemory.called(entry.id)
      return entry.run(in: &$0)
    }
  }

  mutating func search(_ text: String, in target: SearchLayer.Target) -> [Effect] {
    then { $0.search(text, in: target) }
  }

  mutating func giveUpSearch(_ former: String, in target: SearchLayer.Target) -> [Effect] {
    then { $0.giveUpSearch(former, in: target) }
  }

  /// Records an arrangement of Browse for undo.
  mutating func left(_ browse: BrowseView) {
    _ = then {
      var former = $0.arrangement
      former.view.browse = browse
      $0.done.left(former)
      return []
    }
  }

  /// Changes what is prepared; `u` takes it back.
  mutating func prepare(_ work: @escaping @Sendable (inout PreparedEdits) -> Void) {
    _ = then {
      $0.prepare(work)
      return []
    }
  }

  /// What was prepared is written.
  ///
  /// - Parameter isChanged: whether the store was changed by it.
  mutating func forgetPrepared(isChanged: Bool = false) {
    _ = then {
      $0.forgetPrepared()
      if isChanged { $0.writtenAfter = $0.done.past.count }
      return []
    }
  }

  /// Closes the questions about a run that has ended.
  mutating func closeQuestions() {
    _ = then {
      $0.layers.removeAll { ($0.content as? ConfirmLayer)?.confirmation.isAboutRun ?? false }
      return []
    }
  }
}

extension State {
  /// The context for drawing and for bindings.
  var context: Context { Context(self, for: .state) }

  /// Lets a component work on a context of the state.
  ///
  /// - Returns: the result, and the context, whose requests ``fulfil(_:)`` carries out after the
  ///   component has been stored again.
  mutating func lend<Result>(
    to owner: Owner, _ work: (inout Context) -> Result
  ) -> (result: Result, context: Context) {
    var context = Context(self, for: owner)
    let result = work(&context)
    context.give(to: &self)
    return (result, context)
  }

  /// Carries out the requests of a component.
  mutating func fulfil(_ context: Context) -> [Effect] { context.fulfil(in: &self) }
}

extension Context {
  fileprivate init(_ state: State, for owner: Owner) {
    _known = state.$known
    (screen, notice, tasks) = (state.screen, state.notice, state.tasks)
    self.owner = owner
    screens = state.screens
    isCovered = !state.layers.isEmpty
    log = state.log
  }

  /// Writes the changes back into the state.
  fileprivate func give(to state: inout State) {
    (state.$known, state.screen, state.notice, state.tasks) = ($known, screen, notice, tasks)
    for note in notes { state.note(note.text, note.kind) }
  }

  fileprivate func fulfil(in state: inout State) -> [Effect] {
    state.layers += shown
    var effects: [Effect] = []
    for request in requests { effects += request(&state) }
    return effects
  }
}
