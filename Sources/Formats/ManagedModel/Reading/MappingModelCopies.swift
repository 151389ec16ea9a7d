/// The copies of two models that an `xcmapping.xml` holds: where an app's old model is lost, it may be there.
package struct MappingModelCopies {
  /// Whose copy it is.
  package enum Side: String, Sendable, CaseIterable {
    case source, destination

    /// The attribute of the document's root that holds it, in Base64.
    package var attribute: String { rawValue + "modeldata" }
  }

  /// The file of an .xcmappingmodel.
  package static let file = "xcmapping.xml"

  private let texts: [String: String]

  /// Looks for the copies in a document.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable for what is no XML.
  package init(_ bytes: [UInt8]) throws(CoreDataError) {
    let finder = Finder()
    try XMLReader.read(bytes) { event, xml throws(CoreDataError) in finder.take(event, xml) }
    texts = finder.texts
  }

  /// The model of a side.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where it is missing or cannot be read.
  package func model(_ side: Side) throws(CoreDataError) -> Model {
    guard let bytes = texts[side.attribute].flatMap({ ByteText.bytes(base64: $0) }), !bytes.isEmpty
    else {
      throw CoreDataError(
        .unreadable, "the mapping model holds no copy of its \(side.rawValue) model")
    }
    return try EditorModel(KeyedArchive(bytes)).model
  }

  /// A class, since the XML reader's callback fills it in place.
  private final class Finder {
    var texts: [String: String] = [:]
    private var attribute: String?
    private static let names = Set(Side.allCases.map(\.attribute))

    func take(_ event: XMLReader.Event, _ xml: XMLReader) {
      switch event {
      case .start(let name, let attributes):
        var tag = XMLTag(name: name, attributes: attributes, xml: xml)
        attribute =
          name == "attribute"
          ? tag.text("name").flatMap { Self.names.contains($0) ? $0 : nil } : nil
      case .text(let piece):
        if let attribute { texts[attribute, default: ""] += piece }
      case .end: attribute = nil
      }
    }
  }
}
