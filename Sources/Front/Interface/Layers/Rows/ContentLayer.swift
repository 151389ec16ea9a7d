import ManagedModel
import ManagedStore
import Terminal

/// A value in full: text wrapped, bytes in hexadecimal, however long; only the part around what is
/// seen is in memory. A value whose form is known is decoded, and then a text as a whole.
struct ContentLayer: LayerContent {
  enum Form: Sendable, Equatable { case decoded, text, hex }

  /// Bytes that are asked for at a time, and those of them kept before the first line that is seen.
  private static let window = 256 << 10
  private static let before = 64 << 10

  let object: ObjectID
  let property: String
  var form: Form?
  /// The part of the value that was read.
  private(set) var stored: StoredContent?
  private(set) var decoded: DecodedText?
  /// Whether the text is UTF-8 as far as it was looked at.
  var isBroken = false
  /// Offset of the first byte that is seen.
  var top = 0
  private var task: TaskID?
  private var decodeTask: TaskID?
  var error: CoreDataError?
  /// The text that is being typed to search for.
  var prompt: Prompt?
  private var searched = ""
  /// Where what was searched for stands.
  var match: Int?
  var findTask: TaskID?

  /// Whether it is a value that is prepared, and not the store's.
  private(set) var isPrepared = false

  init(_ object: ObjectID, _ property: String) {
    (self.object, self.property) = (object, property)
  }

  /// A value that is prepared for a property; all of it is in memory.
  init(_ object: ObjectID, _ property: String, prepared value: AttributeValue) {
    self.init(object, property)
    var isText = true
    let bytes: [UInt8]
    switch value {
    case .bytes(let content): (bytes, isText) = (content, false)
    case .string(let text), .uri(let text): bytes = Array(text.utf8)
    default: bytes = Array(value.shown.utf8)
    }
    let content = StoredContent(total: bytes.count, offset: 0, bytes: bytes, isText: isText)
    (isPrepared, stored) = (true, content)
    form = isText || isReadable(content) ? .text : .hex
  }

  /// What is seen is a part of this.
  var part: StoredContent? { form == .decoded ? decoded?.content : stored }

  /// The forms that the value can be shown in.
  private var forms: [Form] {
    let isText = stored.map { $0.isText || isReadable($0) } ?? false
    return (decoded == nil ? [] : [.decoded]) + (isText ? [.text] : []) + [.hex]
  }

  /// The form that `x` turns to.
  private var nextForm: Form {
    // Bytes that nobody takes for text can be looked at as such all the same.
    let forms = forms == [.hex] ? [.text, .hex] : forms
    let index = form.flatMap { forms.firstIndex(of: $0) } ?? 0
    return forms[(index + 1) % forms.count]
  }

  private mutating func turn() {
    let next = nextForm
    // Places in the decoded text are none in the value.
    if (form == .decoded) != (next == .decoded) { (top, match) = (0, nil) }
    form = next
  }

  mutating func read(from offset: Int, in context: inout Context) -> [Effect] {
    let (object, property) = (object, property)
    return context.ask(&task) {
      .ask($0, .content(object, property: property, offset: offset, count: Self.window))
    }
  }

  func bindings(_ context: Context) -> [Binding] {
    if prompt != nil {
      return [
        Binding([.enter], "find", asks("confirm") { $0.search(in: &$1) }),
        Binding([.escape], "do not search", changes("cancel") { $0.prompt = nil }),
        // The mouse scrolls all the same.
        moving([]) { $0.move($1, in: &$2) },
      ]
    }
    let command = context.known.rowCommand(context.known.command("object", "\(object)"))
    let unsearched = searched.isEmpty ? "no search yet" : nil
    return [
      Binding(["/"], "search", changes("search") { $0.prompt = Prompt($0.searched) }),
      Binding(
        ["n"], "next",
        asks("nextChange") {
          $0.find(backwards: false, from: ($0.match ?? $0.top - 1) + 1, in: &$1)
        }, unless: unsearched),
      Binding(
        ["N"], "previous",
        asks("previousChange") { $0.find(backwards: true, from: $0.match ?? $0.top, in: &$1) },
        unless: unsearched, footer: false),
      Binding(
        ["x"], nextForm.title, changes("showAsBytes") { $0.turn() }, command: command),
      Binding(
        ["w"], "write to a file", shows("writeValue") { $0.output },
        unless: stored == nil
          ? "there is no value" : isPrepared ? PreparedEdits.notWritten : nil,
        command: context.known.rowCommand(
          context.known.command(
            "object", "\(object) --property \(ShellText.quoted(property)) --output FILE")
        )),
      moving { $0.move($1, in: &$2) },
      closing([.escape, "q", "v"]),
    ]
  }

  private var output: NewFileLayer? {
    stored.map { NewFileLayer(valueOf: property, in: object, beginning: $0) }
  }

  private func shows(
    _ name: String, _ layer: @escaping @Sendable (Self) -> (any LayerContent)?
  ) -> Action {
    asks(name) { content, context in
      if let layer = layer(content) { context.show(layer) }
      return []
    }
  }

  private mutating func search(in context: inout Context) -> [Effect] {
    searched = prompt?.text ?? ""
    prompt = nil
    return find(backwards: false, from: top, in: &context)
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    prompt?.handle(key)
    return []
  }

  private mutating func find(
    backwards: Bool, from offset: Int, in context: inout Context
  ) -> [Effect] {
    guard !searched.isEmpty else { return [] }
    if form == .decoded || isPrepared {
      let place = part?.place(of: searched, from: offset, backwards: backwards)
      return show(match: place, in: &context)
    }
    let find = StoreRequest.find(
      searched, object, property: property, from: offset, backwards: backwards)
    return context.ask(&findTask) { .ask($0, find) }
  }

  func room(_ context: Context) -> Size {
    Size(width: max(1, context.body.width - 6), height: max(1, context.body.height - 3))
  }

  private mutating func move(_ key: Key, in context: inout Context) -> [Effect] {
    guard let part else { return [] }
    let room = room(context)
    switch ListMove(key) {
    case .lines(let count), .scroll(let count): step(count, room)
    case .pages(let count): step(count * (room.height - 1), room)
    case .halfPages(let count): step(count * room.height / 2, room)
    case .start: top = 0
    case .end:
      top = max(0, part.total - 1)
      if contains(top) { step(-(room.height - 2), room) } else { match = nil }
    case nil: return []
    }
    return wanted(in: &context)
  }

  func contains(_ place: Int) -> Bool {
    guard let part else { return false }
    return place >= part.offset && place < part.offset + part.bytes.count
  }

  private mutating func step(_ lines: Int, _ room: Size) {
    guard let part else { return }
    if form == .hex {
      let columns = HexLayout.columns(width: room.width)
      let last = max(0, (part.total - 1) / columns - room.height + 1) * columns
      top = max(0, min(last, top / columns * columns + lines * columns))
      return
    }
    let layout = TextLayout(part, width: room.width)
    for _ in 0..<abs(lines) {
      if lines < 0 {
        guard let start = layout.start(before: top) else { return }
        top = start
      } else {
        // The last line stays in sight.
        let seen = layout.lines(from: top, count: 2)
        guard seen.count == 2 else { return }
        top = seen[1].start
      }
    }
  }

  /// Asks for another part when the place comes near the ends of this one.
  private mutating func wanted(in context: inout Context) -> [Effect] {
    guard let part, task == nil else { return [] }
    let start = part.offset
    let end = start + part.bytes.count
    let margin = 32 << 10
    let isNearStart = start > 0 && top < start + margin
    let isNearEnd = end < part.total && top > end - margin
    guard isNearStart || isNearEnd else { return [] }
    return read(from: max(0, top - Self.before), in: &context)
  }

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    if task == self.task, case .content(let part) = answer {
      self.task = nil
      let former = stored
      take(part, in: context)
      guard former == nil, let stored, error == nil, DecodedText.isPossible(stored) else {
        // The same part again: the value has become shorter than it says, and there is no more of it.
        let isSame = former?.offset == stored?.offset && former?.bytes.count == stored?.bytes.count
        return isSame ? [] : wanted(in: &context)
      }
      let (object, property) = (object, property)
      form = nil
      return context.ask(&decodeTask) { .ask($0, .decoded(object, property: property)) }
    }
    if task == decodeTask, case .decoded(let text) = answer {
      decodeTask = nil
      decoded = text
      setForm(in: context)
      return []
    }
    guard task == findTask, case .matched(let place) = answer else { return [] }
    findTask = nil
    return show(match: place, in: &context)
  }

  /// Goes to where a text stands.
  private mutating func show(match place: Int?, in context: inout Context) -> [Effect] {
    match = place
    guard let place else {
      context.notice = Notice("“\(searched.prefix(60))” was not found", .warning)
      return []
    }
    if form == .hex {
      let columns = HexLayout.columns(width: room(context).width)
      top = place / columns * columns
    } else {
      top = place
      // From the start of its line, where that is known.
      if contains(place), let part {
        top = TextLayout(part, width: room(context).width).start(before: place + 1) ?? place
      }
    }
    return contains(top)
      ? wanted(in: &context) : read(from: max(0, top - Self.before), in: &context)
  }

  private mutating func take(_ part: StoredContent?, in context: Context) {
    guard let part else {
      error = CoreDataError(.usage, "there is no value")
      return
    }
    if let problem = part.location.problem {
      error = CoreDataError(.unreadable, problem)
      return
    }
    let isFirst = stored == nil
    stored = part
    if isFirst { setForm(in: context) }
    if top >= part.total - 1, form != nil, part.total > 0, top > 0 {
      // At the end: as much as fits before it.
      let room = room(context)
      top = part.total
      step(-(room.height - 1), room)
    }
  }

  /// The form that the value is shown in at first.
  private mutating func setForm(in context: Context) {
    guard let stored else { return }
    isBroken = stored.isText && !isUTF8(stored)
    form =
      decoded != nil
      ? .decoded : stored.isText || isReadable(stored) || stored.bytes.isEmpty ? .text : .hex
  }

  private func isReadable(_ part: StoredContent) -> Bool {
    let kind = DataKind(Array(part.bytes.prefix(4_096)), isWhole: part.total <= 4_096)
    return kind == .text || kind == .json
  }

  /// Whether the part is UTF-8, but for a character that its end cuts.
  private func isUTF8(_ part: StoredContent) -> Bool {
    (0...3).contains { cut in
      (cut == 0 || part.bytes.count < part.total)
        && String(validating: part.bytes.dropLast(cut), as: UTF8.self) != nil
    }
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    if self.task.end(task) {
      self.error = error
    } else if decodeTask.end(task) {
      setForm(in: context)
      if error.kind != .cancelled { context.notice = Notice(error.description, .warning) }
    } else if findTask.end(task) {
      context.notice = Notice(error.description, .warning)
    }
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    let isDecoding = decodeTask != nil
    let effects = (task.stop() ?? []) + (findTask.stop() ?? []) + (decodeTask.stop() ?? [])
    if isDecoding { setForm(in: context) }
    return effects.isEmpty ? nil : effects
  }
}

extension ContentLayer.Form {
  /// What turning to it is called.
  fileprivate var title: String {
    switch self {
    case .decoded: "decoded"
    case .text: "as text"
    case .hex: "as bytes"
    }
  }
}
