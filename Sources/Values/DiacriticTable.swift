/// Letters with marks and the letters they are without, for text compared without regard to them.
///
/// Made from Unicode 14's canonical decompositions below U+2000 (Latin, Greek, Cyrillic, Hebrew, Indic).
enum DiacriticTable {
  static let bases: [Unicode.Scalar: Unicode.Scalar] = {
    var bases: [Unicode.Scalar: Unicode.Scalar] = [:]
    for group in table.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      let scalars = group.unicodeScalars
      guard let base = scalars.first else { continue }
      for letter in scalars.dropFirst() { bases[letter] = base }
    }
    return bases
  }()

  /// Groups: the bare letter, then its forms with marks.
  private static let table = """
    AÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶ CÇĆĈĊČḈ EÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ IÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ
    NÑŃŅŇǸṄṆṈṊ OÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ UÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ YÝŶŸȲẎỲỴỶỸ
    aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ cçćĉċčḉ eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ iìíîïĩīĭįǐȉȋḭḯỉị
    nñńņňǹṅṇṉṋ oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự
    yýÿŷȳẏẙỳỵỷỹ DĎḊḌḎḐḒ dďḋḍḏḑḓ GĜĞĠĢǦǴḠ gĝğġģǧǵḡ HĤȞḢḤḦḨḪ hĥȟḣḥḧḩḫẖ JĴ jĵǰ KĶǨḰḲḴ kķǩḱḳḵ
    LĹĻĽḶḸḺḼ lĺļľḷḹḻḽ RŔŖŘȐȒṘṚṜṞ rŕŗřȑȓṙṛṝṟ SŚŜŞŠȘṠṢṤṦṨ sśŝşšșṡṣṥṧṩ TŢŤȚṪṬṮṰ tţťțṫṭṯṱẗ
    WŴẀẂẄẆẈ wŵẁẃẅẇẉẘ ZŹŻŽẐẒẔ zźżžẑẓẕ ÆǢǼ æǣǽ ƷǮ ʒǯ ØǾ øǿ ¨΅῁῭΅ ΑΆἈἉἊἋἌἍἎἏᾈᾉᾊᾋᾌᾍᾎᾏᾸᾹᾺΆᾼ
    ΕΈἘἙἚἛἜἝῈΈ ΗΉἨἩἪἫἬἭἮἯᾘᾙᾚᾛᾜᾝᾞᾟῊΉῌ ΙΊΪἸἹἺἻἼἽἾἿῘῙῚΊ ΟΌὈὉὊὋὌὍῸΌ ΥΎΫὙὛὝὟῨῩῪΎ
    ΩΏὨὩὪὫὬὭὮὯᾨᾩᾪᾫᾬᾭᾮᾯῺΏῼ ιΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ αάἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ εέἐἑἒἓἔἕὲέ
    ηήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ υΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ οόὀὁὂὃὄὅὸό ωώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒϓϔ
    ЕЀЁӖ ГЃ ІЇ КЌ ИЍЙӢӤ УЎӮӰӲ ийѝӣӥ еѐёӗ гѓ ії кќ уўӯӱӳ ѴѶ ѵѷ ЖӁӜ жӂӝ АӐӒ аӑӓ ӘӚ әӛ ЗӞ зӟ ОӦ
    оӧ ӨӪ өӫ ЭӬ эӭ ЧӴ чӵ ЫӸ ыӹ اآأإ وؤ يئ ەۀ ہۂ ےۓ नऩ रऱ ळऴ कक़ खख़ गग़ जज़ डड़ ढढ़ फफ़ यय़ ডড় ঢঢ় যয়
    ਲਲ਼ ਸਸ਼ ਖਖ਼ ਗਗ਼ ਜਜ਼ ਫਫ਼ େୈ ଡଡ଼ ଢଢ଼ ෙේ གགྷ ཌཌྷ དདྷ བབྷ ཛཛྷ ཀཀྵ ဥဦ BḂḄḆ bḃḅḇ FḞ fḟ MḾṀṂ mḿṁṃ PṔṖ pṕṗ VṼṾ
    vṽṿ XẊẌ xẋẍ ſẛ ᾿῍῎῏ ῾῝῞῟ ρῤῥ ΡῬ
    """
}
