/// A keyed archive that is read object by object, for one that is too large to be unfolded: what is in memory is
/// its bytes, and the object that was asked for.
package struct ArchivedObjects {
  /// What its `$top` holds.
  package let top: [String: PropertyListValue]
  private var reader: BinaryPropertyListReader
  private let places: BinaryPropertyListReader.List
  /// Values that may still be read, every 64 bytes of their content for one more: each is counted as often as it is
  /// read, since values that share others could unfold to any size.
  private var room: Int
  /// Names of classes by the numbers of what describes them: few, and each object asks for its own.
  private var classNames: [Int: String] = [:]
  /// The object that stands for nothing in an array; an archive has one.
  private var nullObject: Int?

  /// Reads the list of objects.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where the bytes are no binary property list, or one that is no
  ///   keyed archive.
  package init(_ bytes: [UInt8]) throws(CoreDataError) {
    reader = try BinaryPropertyListReader(bytes)
    let places = try reader.places(inDictionary: reader.root)
    guard let objects = places["$objects"], let top = places["$top"],
      case .dictionary(let fields) = try reader.object(alone: top)
    else {
      throw CoreDataError(.unreadable, "a property list, but not a keyed archive")
    }
    self.top = fields
    self.places = try reader.list(at: objects)
    room = Self.room(for: bytes.count)
  }

  /// A sound archive has few values that are shared, and those are small: 16 a byte are many times what it needs.
  private static func room(for size: Int) -> Int { 1_000_000 + size * 16 }

  /// Reads what is left of an archive that was cut off, or whose table of objects is damaged: its objects lie one after
  /// the other in the order of their numbers. Nothing is at its top; objects that are gone throw when they are asked
  /// for.
  ///
  /// - Returns: `nil` where not even the list of objects is left.
  package init?(remainsOf bytes: [UInt8]) {
    for size in [2, 1, 4, 3] {
      guard let mended = BinaryPropertyListRemains(bytes, referenceSize: size)?.mended,
        var reader = try? BinaryPropertyListReader(mended),
        let objects = (try? reader.places(inDictionary: reader.root))?["$objects"],
        let places = try? reader.list(at: objects)
      else { continue }
      top = [:]
      self.reader = reader
      self.places = places
      room = Self.room(for: bytes.count)
      return
    }
    return nil
  }

  /// How many objects it has.
  package var count: Int { places.count }

  /// An object as the archive has it, with its references as numbers.
  ///
  /// - Throws: ``CoreDataError`` if no object has that number, if it is damaged, or if all that was asked for is far
  ///   larger together than the archive.
  package mutating func object(_ uid: Int) throws(CoreDataError) -> PropertyListValue {
    guard (0..<count).contains(uid) else {
      throw CoreDataError(.unreadable, "the archive has no object \(uid)")
    }
    // Once it is used up nothing smaller is taken either.
    if room >= 0 {
      let (value, weight) = try reader.weighed(alone: try reader.place(of: uid, in: places))
      room -= weight
      if room >= 0 { return value }
    }
    throw CoreDataError(
      .unreadable, "the archive has values that share too much: unfolded they would be too large")
  }

  /// The references in an array that an object has in a field; `nil` where the field is missing. An element that is no
  /// reference is number 0, which is nothing.
  ///
  /// The array is not unfolded: a large one would take several times its size.
  ///
  /// - Throws: ``CoreDataError`` if the object or the array is damaged.
  package mutating func references(
    of field: String, in reference: PropertyListValue
  ) throws(CoreDataError) -> [PropertyListValue]? {
    guard case .uid(let uid) = reference, (0..<count).contains(uid),
      let array = try reader.places(inDictionary: try reader.place(of: uid, in: places))[field]
    else { return nil }
    var elements: [PropertyListValue] = []
    for place in try reader.places(inArray: array) {
      elements.append(.uid(try reader.reference(alone: place) ?? 0))
    }
    return elements
  }

  /// What a value of the archive refers to; a value that refers to nothing is itself.
  package mutating func value(
    of reference: PropertyListValue
  ) throws(CoreDataError) -> PropertyListValue {
    guard case .uid(let uid) = reference else { return reference }
    let object = try object(uid)
    return uid == 0 && object == .string("$null") ? .null : object
  }

  /// The name of an object's class; `nil` where it has none.
  package mutating func className(
    of object: PropertyListValue
  ) throws(CoreDataError) -> String? {
    guard let reference = object["$class"] else { return nil }
    if case .uid(let uid) = reference, let known = classNames[uid] { return known }
    guard let name = try value(of: reference)["$classname"]?.string else { return nil }
    // Bounded, whatever the archive calls its classes.
    if case .uid(let uid) = reference, name.utf8.count < 200, classNames.count < 1000 {
      classNames[uid] = name
    }
    return name
  }

  /// The same as ``value(of:)`` for an element of an array, where NSNull stands for nothing.
  package mutating func element(
    of reference: PropertyListValue
  ) throws(CoreDataError) -> PropertyListValue {
    guard case .uid(let uid) = reference else { return reference }
    if uid == nullObject { return .null }
    let object = try value(of: reference)
    guard case .dictionary = object, try className(of: object) == "NSNull" else { return object }
    nullObject = uid
    return .null
  }

  /// What an object of one of Foundation's value classes means, where it has the fields that NSKeyedArchiver gives it
  /// and no other; `nil` for any other object.
  package mutating func foundationValue(
    of fields: [String: PropertyListValue], className: String
  ) throws(CoreDataError) -> ArchivedValue? {
    guard FoundationObject.usualFields(of: className, are: fields) else { return nil }
    var fields = fields
    if let relative = fields["NS.relative"] { fields["NS.relative"] = try value(of: relative) }
    return FoundationObject.value(
      of: ArchivedObject(archive: .none, uid: nil, className: className, fields: fields))
  }

  /// An object with all that it refers to as an archive of its own, as NSKeyedArchiver would write it.
  ///
  /// - Throws: ``CoreDataError`` where one of these is damaged, or all archives that were asked for would be far
  ///   larger together than the one that they are taken from.
  package mutating func archive(of uid: Int) throws(CoreDataError) -> PropertyListValue {
    var numbers = [0: 0]
    var waiting = [uid]
    var objects: [PropertyListValue] = [.string("$null")]
    func number(_ uid: Int) -> Int {
      if let known = numbers[uid] { return known }
      let new = numbers.count
      numbers[uid] = new
      waiting.append(uid)
      return new
    }
    let isNull = uid == 0
    if !isNull {
      numbers[uid] = 1
      var next = 0
      while next < waiting.count {
        objects.append(renumbered(try object(waiting[next]), number))
        next += 1
      }
    }
    return .dictionary([
      "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
      "$top": .dictionary([KeyedArchive.rootKey: .uid(isNull ? 0 : 1)]),
      "$objects": .array(objects),
    ])
  }

  private func renumbered(
    _ value: PropertyListValue, _ number: (Int) -> Int
  ) -> PropertyListValue {
    switch value {
    case .uid(let uid): .uid(number(uid))
    case .array(let values): .array(values.map { renumbered($0, number) })
    case .dictionary(let fields):
      // In an order, so that equal objects become equal archives.
      .dictionary(
        Dictionary(
          uniqueKeysWithValues: fields.sortedByBytes(\.key).map {
            ($0.key, renumbered($0.value, number))
          }))
    default: value
    }
  }
}
