# Generated from grammar/Slice.g4 by ANTLR 4.13.2
# encoding: utf-8
from antlr4 import *
from io import StringIO
import sys
if sys.version_info[1] > 5:
	from typing import TextIO
else:
	from typing.io import TextIO

def serializedATN():
    return [
        4,1,45,291,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,1,0,5,0,34,8,0,10,0,12,0,37,9,0,1,0,1,0,1,1,
        1,1,1,1,3,1,44,8,1,1,2,3,2,47,8,2,1,2,1,2,1,2,1,2,1,2,3,2,54,8,2,
        1,3,1,3,1,3,1,3,5,3,60,8,3,10,3,12,3,63,9,3,1,3,1,3,1,4,1,4,1,4,
        1,4,1,4,1,4,3,4,73,8,4,1,4,1,4,1,4,1,4,5,4,79,8,4,10,4,12,4,82,9,
        4,1,4,1,4,1,4,1,4,5,4,88,8,4,10,4,12,4,91,9,4,3,4,93,8,4,3,4,95,
        8,4,1,4,1,4,5,4,99,8,4,10,4,12,4,102,9,4,1,4,3,4,105,8,4,1,5,5,5,
        108,8,5,10,5,12,5,111,9,5,1,5,3,5,114,8,5,1,5,3,5,117,8,5,1,5,1,
        5,3,5,121,8,5,1,5,1,5,1,5,5,5,126,8,5,10,5,12,5,129,9,5,1,5,1,5,
        1,5,1,5,1,5,5,5,136,8,5,10,5,12,5,139,9,5,3,5,141,8,5,1,5,1,5,3,
        5,145,8,5,3,5,147,8,5,1,5,5,5,150,8,5,10,5,12,5,153,9,5,1,6,1,6,
        5,6,157,8,6,10,6,12,6,160,9,6,1,6,3,6,163,8,6,1,6,1,6,1,6,3,6,168,
        8,6,1,7,1,7,1,7,3,7,173,8,7,1,7,3,7,176,8,7,1,8,1,8,1,8,1,8,5,8,
        182,8,8,10,8,12,8,185,9,8,1,8,1,8,1,9,5,9,190,8,9,10,9,12,9,193,
        9,9,1,9,1,9,1,9,3,9,198,8,9,1,9,3,9,201,8,9,1,10,1,10,1,10,5,10,
        206,8,10,10,10,12,10,209,9,10,1,10,1,10,1,10,1,10,1,10,1,10,1,10,
        5,10,218,8,10,10,10,12,10,221,9,10,1,10,1,10,1,10,5,10,226,8,10,
        10,10,12,10,229,9,10,1,10,1,10,1,10,1,10,3,10,235,8,10,1,11,1,11,
        5,11,239,8,11,10,11,12,11,242,9,11,1,11,1,11,1,11,1,11,1,11,1,12,
        1,12,3,12,251,8,12,1,12,3,12,254,8,12,1,13,1,13,4,13,258,8,13,11,
        13,12,13,259,1,13,3,13,263,8,13,1,14,1,14,1,14,3,14,268,8,14,5,14,
        270,8,14,10,14,12,14,273,9,14,1,14,1,14,1,14,1,14,3,14,279,8,14,
        5,14,281,8,14,10,14,12,14,284,9,14,1,14,3,14,287,8,14,1,15,1,15,
        1,15,0,0,16,0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,0,6,1,0,2,
        5,2,0,11,12,33,33,1,0,11,12,1,0,16,17,1,0,20,21,1,0,1,19,325,0,35,
        1,0,0,0,2,43,1,0,0,0,4,46,1,0,0,0,6,55,1,0,0,0,8,66,1,0,0,0,10,109,
        1,0,0,0,12,158,1,0,0,0,14,169,1,0,0,0,16,177,1,0,0,0,18,191,1,0,
        0,0,20,234,1,0,0,0,22,236,1,0,0,0,24,248,1,0,0,0,26,262,1,0,0,0,
        28,286,1,0,0,0,30,288,1,0,0,0,32,34,3,2,1,0,33,32,1,0,0,0,34,37,
        1,0,0,0,35,33,1,0,0,0,35,36,1,0,0,0,36,38,1,0,0,0,37,35,1,0,0,0,
        38,39,5,0,0,1,39,1,1,0,0,0,40,44,3,28,14,0,41,44,3,4,2,0,42,44,5,
        34,0,0,43,40,1,0,0,0,43,41,1,0,0,0,43,42,1,0,0,0,44,3,1,0,0,0,45,
        47,5,10,0,0,46,45,1,0,0,0,46,47,1,0,0,0,47,53,1,0,0,0,48,54,3,6,
        3,0,49,54,3,8,4,0,50,54,3,16,8,0,51,54,3,20,10,0,52,54,3,22,11,0,
        53,48,1,0,0,0,53,49,1,0,0,0,53,50,1,0,0,0,53,51,1,0,0,0,53,52,1,
        0,0,0,54,5,1,0,0,0,55,56,5,1,0,0,56,57,3,30,15,0,57,61,5,25,0,0,
        58,60,3,2,1,0,59,58,1,0,0,0,60,63,1,0,0,0,61,59,1,0,0,0,61,62,1,
        0,0,0,62,64,1,0,0,0,63,61,1,0,0,0,64,65,5,26,0,0,65,7,1,0,0,0,66,
        67,7,0,0,0,67,72,3,30,15,0,68,69,5,27,0,0,69,70,3,26,13,0,70,71,
        5,28,0,0,71,73,1,0,0,0,72,68,1,0,0,0,72,73,1,0,0,0,73,94,1,0,0,0,
        74,75,7,1,0,0,75,80,3,30,15,0,76,77,5,35,0,0,77,79,3,30,15,0,78,
        76,1,0,0,0,79,82,1,0,0,0,80,78,1,0,0,0,80,81,1,0,0,0,81,92,1,0,0,
        0,82,80,1,0,0,0,83,84,7,2,0,0,84,89,3,30,15,0,85,86,5,35,0,0,86,
        88,3,30,15,0,87,85,1,0,0,0,88,91,1,0,0,0,89,87,1,0,0,0,89,90,1,0,
        0,0,90,93,1,0,0,0,91,89,1,0,0,0,92,83,1,0,0,0,92,93,1,0,0,0,93,95,
        1,0,0,0,94,74,1,0,0,0,94,95,1,0,0,0,95,104,1,0,0,0,96,100,5,25,0,
        0,97,99,3,10,5,0,98,97,1,0,0,0,99,102,1,0,0,0,100,98,1,0,0,0,100,
        101,1,0,0,0,101,103,1,0,0,0,102,100,1,0,0,0,103,105,5,26,0,0,104,
        96,1,0,0,0,104,105,1,0,0,0,105,9,1,0,0,0,106,108,3,28,14,0,107,106,
        1,0,0,0,108,111,1,0,0,0,109,107,1,0,0,0,109,110,1,0,0,0,110,113,
        1,0,0,0,111,109,1,0,0,0,112,114,7,3,0,0,113,112,1,0,0,0,113,114,
        1,0,0,0,114,116,1,0,0,0,115,117,3,14,7,0,116,115,1,0,0,0,116,117,
        1,0,0,0,117,120,1,0,0,0,118,121,5,14,0,0,119,121,3,24,12,0,120,118,
        1,0,0,0,120,119,1,0,0,0,121,122,1,0,0,0,122,146,3,30,15,0,123,127,
        5,27,0,0,124,126,3,12,6,0,125,124,1,0,0,0,126,129,1,0,0,0,127,125,
        1,0,0,0,127,128,1,0,0,0,128,130,1,0,0,0,129,127,1,0,0,0,130,140,
        5,28,0,0,131,132,5,13,0,0,132,137,3,30,15,0,133,134,5,35,0,0,134,
        136,3,30,15,0,135,133,1,0,0,0,136,139,1,0,0,0,137,135,1,0,0,0,137,
        138,1,0,0,0,138,141,1,0,0,0,139,137,1,0,0,0,140,131,1,0,0,0,140,
        141,1,0,0,0,141,147,1,0,0,0,142,143,5,36,0,0,143,145,3,26,13,0,144,
        142,1,0,0,0,144,145,1,0,0,0,145,147,1,0,0,0,146,123,1,0,0,0,146,
        144,1,0,0,0,147,151,1,0,0,0,148,150,5,34,0,0,149,148,1,0,0,0,150,
        153,1,0,0,0,151,149,1,0,0,0,151,152,1,0,0,0,152,11,1,0,0,0,153,151,
        1,0,0,0,154,157,3,28,14,0,155,157,5,15,0,0,156,154,1,0,0,0,156,155,
        1,0,0,0,157,160,1,0,0,0,158,156,1,0,0,0,158,159,1,0,0,0,159,162,
        1,0,0,0,160,158,1,0,0,0,161,163,3,14,7,0,162,161,1,0,0,0,162,163,
        1,0,0,0,163,164,1,0,0,0,164,165,3,24,12,0,165,167,3,30,15,0,166,
        168,5,35,0,0,167,166,1,0,0,0,167,168,1,0,0,0,168,13,1,0,0,0,169,
        175,5,18,0,0,170,172,5,27,0,0,171,173,3,26,13,0,172,171,1,0,0,0,
        172,173,1,0,0,0,173,174,1,0,0,0,174,176,5,28,0,0,175,170,1,0,0,0,
        175,176,1,0,0,0,176,15,1,0,0,0,177,178,5,6,0,0,178,179,3,30,15,0,
        179,183,5,25,0,0,180,182,3,18,9,0,181,180,1,0,0,0,182,185,1,0,0,
        0,183,181,1,0,0,0,183,184,1,0,0,0,184,186,1,0,0,0,185,183,1,0,0,
        0,186,187,5,26,0,0,187,17,1,0,0,0,188,190,3,28,14,0,189,188,1,0,
        0,0,190,193,1,0,0,0,191,189,1,0,0,0,191,192,1,0,0,0,192,194,1,0,
        0,0,193,191,1,0,0,0,194,197,3,30,15,0,195,196,5,36,0,0,196,198,3,
        26,13,0,197,195,1,0,0,0,197,198,1,0,0,0,198,200,1,0,0,0,199,201,
        5,35,0,0,200,199,1,0,0,0,200,201,1,0,0,0,201,19,1,0,0,0,202,203,
        5,7,0,0,203,207,5,29,0,0,204,206,3,28,14,0,205,204,1,0,0,0,206,209,
        1,0,0,0,207,205,1,0,0,0,207,208,1,0,0,0,208,210,1,0,0,0,209,207,
        1,0,0,0,210,211,3,24,12,0,211,212,5,30,0,0,212,213,3,30,15,0,213,
        235,1,0,0,0,214,215,5,8,0,0,215,219,5,29,0,0,216,218,3,28,14,0,217,
        216,1,0,0,0,218,221,1,0,0,0,219,217,1,0,0,0,219,220,1,0,0,0,220,
        222,1,0,0,0,221,219,1,0,0,0,222,223,3,24,12,0,223,227,5,35,0,0,224,
        226,3,28,14,0,225,224,1,0,0,0,226,229,1,0,0,0,227,225,1,0,0,0,227,
        228,1,0,0,0,228,230,1,0,0,0,229,227,1,0,0,0,230,231,3,24,12,0,231,
        232,5,30,0,0,232,233,3,30,15,0,233,235,1,0,0,0,234,202,1,0,0,0,234,
        214,1,0,0,0,235,21,1,0,0,0,236,240,5,9,0,0,237,239,3,28,14,0,238,
        237,1,0,0,0,239,242,1,0,0,0,240,238,1,0,0,0,240,241,1,0,0,0,241,
        243,1,0,0,0,242,240,1,0,0,0,243,244,3,24,12,0,244,245,3,30,15,0,
        245,246,5,36,0,0,246,247,3,26,13,0,247,23,1,0,0,0,248,250,5,19,0,
        0,249,251,5,37,0,0,250,249,1,0,0,0,250,251,1,0,0,0,251,253,1,0,0,
        0,252,254,5,38,0,0,253,252,1,0,0,0,253,254,1,0,0,0,254,25,1,0,0,
        0,255,263,7,4,0,0,256,258,5,22,0,0,257,256,1,0,0,0,258,259,1,0,0,
        0,259,257,1,0,0,0,259,260,1,0,0,0,260,263,1,0,0,0,261,263,3,30,15,
        0,262,255,1,0,0,0,262,257,1,0,0,0,262,261,1,0,0,0,263,27,1,0,0,0,
        264,271,5,31,0,0,265,267,5,22,0,0,266,268,5,35,0,0,267,266,1,0,0,
        0,267,268,1,0,0,0,268,270,1,0,0,0,269,265,1,0,0,0,270,273,1,0,0,
        0,271,269,1,0,0,0,271,272,1,0,0,0,272,274,1,0,0,0,273,271,1,0,0,
        0,274,287,5,32,0,0,275,282,5,23,0,0,276,278,5,22,0,0,277,279,5,35,
        0,0,278,277,1,0,0,0,278,279,1,0,0,0,279,281,1,0,0,0,280,276,1,0,
        0,0,281,284,1,0,0,0,282,280,1,0,0,0,282,283,1,0,0,0,283,285,1,0,
        0,0,284,282,1,0,0,0,285,287,5,24,0,0,286,264,1,0,0,0,286,275,1,0,
        0,0,287,29,1,0,0,0,288,289,7,5,0,0,289,31,1,0,0,0,46,35,43,46,53,
        61,72,80,89,92,94,100,104,109,113,116,120,127,137,140,144,146,151,
        156,158,162,167,172,175,183,191,197,200,207,219,227,234,240,250,
        253,259,262,267,271,278,282,286
    ]

class SliceParser ( Parser ):

    grammarFileName = "Slice.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'module'", "'struct'", "'class'", "'exception'", 
                     "'interface'", "'enum'", "'sequence'", "'dictionary'", 
                     "'const'", "'local'", "'extends'", "'implements'", 
                     "'throws'", "'void'", "'out'", "'idempotent'", "'nonmutating'", 
                     "'optional'", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "'[['", "']]'", "'{'", "'}'", "'('", "')'", 
                     "'<'", "'>'", "'['", "']'", "':'", "';'", "','", "'='", 
                     "'*'", "'?'", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "'#'" ]

    symbolicNames = [ "<INVALID>", "MODULE", "STRUCT", "CLASS", "EXCEPTION", 
                      "INTERFACE", "ENUM", "SEQUENCE", "DICTIONARY", "CONST", 
                      "LOCAL", "EXTENDS", "IMPLEMENTS", "THROWS", "VOID", 
                      "OUT", "IDEMPOTENT", "NONMUTATING", "OPTIONAL", "NAME", 
                      "FLOAT", "INTEGER", "STRING", "FILE_OPEN", "FILE_CLOSE", 
                      "OPEN", "CLOSE", "LPAREN", "RPAREN", "LESS", "GREATER", 
                      "LBRACKET", "RBRACKET", "COLON", "SEMICOLON", "COMMA", 
                      "ASSIGN", "STAR", "QUESTION", "LINE_COMMENT", "BLOCK_COMMENT", 
                      "SPACE", "HASH", "BAD_STRING", "OPEN_COMMENT", "BAD" ]

    RULE_file = 0
    RULE_item = 1
    RULE_definition = 2
    RULE_module = 3
    RULE_body = 4
    RULE_member = 5
    RULE_parameter = 6
    RULE_optional = 7
    RULE_enum = 8
    RULE_enumerator = 9
    RULE_container = 10
    RULE_constant = 11
    RULE_type = 12
    RULE_value = 13
    RULE_attribute = 14
    RULE_name = 15

    ruleNames =  [ "file", "item", "definition", "module", "body", "member", 
                   "parameter", "optional", "enum", "enumerator", "container", 
                   "constant", "type", "value", "attribute", "name" ]

    EOF = Token.EOF
    MODULE=1
    STRUCT=2
    CLASS=3
    EXCEPTION=4
    INTERFACE=5
    ENUM=6
    SEQUENCE=7
    DICTIONARY=8
    CONST=9
    LOCAL=10
    EXTENDS=11
    IMPLEMENTS=12
    THROWS=13
    VOID=14
    OUT=15
    IDEMPOTENT=16
    NONMUTATING=17
    OPTIONAL=18
    NAME=19
    FLOAT=20
    INTEGER=21
    STRING=22
    FILE_OPEN=23
    FILE_CLOSE=24
    OPEN=25
    CLOSE=26
    LPAREN=27
    RPAREN=28
    LESS=29
    GREATER=30
    LBRACKET=31
    RBRACKET=32
    COLON=33
    SEMICOLON=34
    COMMA=35
    ASSIGN=36
    STAR=37
    QUESTION=38
    LINE_COMMENT=39
    BLOCK_COMMENT=40
    SPACE=41
    HASH=42
    BAD_STRING=43
    OPEN_COMMENT=44
    BAD=45

    def __init__(self, input:TokenStream, output:TextIO = sys.stdout):
        super().__init__(input, output)
        self.checkVersion("4.13.2")
        self._interp = ParserATNSimulator(self, self.atn, self.decisionsToDFA, self.sharedContextCache)
        self._predicates = None




    class FileContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._item = None # ItemContext
            self.items = list() # of ItemContexts

        def EOF(self):
            return self.getToken(SliceParser.EOF, 0)

        def item(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.ItemContext)
            else:
                return self.getTypedRuleContext(SliceParser.ItemContext,i)


        def getRuleIndex(self):
            return SliceParser.RULE_file




    def file_(self):

        localctx = SliceParser.FileContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_file)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 35
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 19335743486) != 0):
                self.state = 32
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 37
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 38
            self.match(SliceParser.EOF)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ItemContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.metadata = None # AttributeContext
            self.declaration = None # DefinitionContext

        def attribute(self):
            return self.getTypedRuleContext(SliceParser.AttributeContext,0)


        def definition(self):
            return self.getTypedRuleContext(SliceParser.DefinitionContext,0)


        def SEMICOLON(self):
            return self.getToken(SliceParser.SEMICOLON, 0)

        def getRuleIndex(self):
            return SliceParser.RULE_item




    def item(self):

        localctx = SliceParser.ItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_item)
        try:
            self.state = 43
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [23, 31]:
                self.enterOuterAlt(localctx, 1)
                self.state = 40
                localctx.metadata = self.attribute()
                pass
            elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]:
                self.enterOuterAlt(localctx, 2)
                self.state = 41
                localctx.declaration = self.definition()
                pass
            elif token in [34]:
                self.enterOuterAlt(localctx, 3)
                self.state = 42
                self.match(SliceParser.SEMICOLON)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DefinitionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.local = None # Token
            self.a = None # ModuleContext
            self.b = None # BodyContext
            self.c = None # EnumContext
            self.d = None # ContainerContext
            self.e = None # ConstantContext

        def module(self):
            return self.getTypedRuleContext(SliceParser.ModuleContext,0)


        def body(self):
            return self.getTypedRuleContext(SliceParser.BodyContext,0)


        def enum(self):
            return self.getTypedRuleContext(SliceParser.EnumContext,0)


        def container(self):
            return self.getTypedRuleContext(SliceParser.ContainerContext,0)


        def constant(self):
            return self.getTypedRuleContext(SliceParser.ConstantContext,0)


        def LOCAL(self):
            return self.getToken(SliceParser.LOCAL, 0)

        def getRuleIndex(self):
            return SliceParser.RULE_definition




    def definition(self):

        localctx = SliceParser.DefinitionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_definition)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 46
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==10:
                self.state = 45
                localctx.local = self.match(SliceParser.LOCAL)


            self.state = 53
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1]:
                self.state = 48
                localctx.a = self.module()
                pass
            elif token in [2, 3, 4, 5]:
                self.state = 49
                localctx.b = self.body()
                pass
            elif token in [6]:
                self.state = 50
                localctx.c = self.enum()
                pass
            elif token in [7, 8]:
                self.state = 51
                localctx.d = self.container()
                pass
            elif token in [9]:
                self.state = 52
                localctx.e = self.constant()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ModuleContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.opening = None # Token
            self._item = None # ItemContext
            self.items = list() # of ItemContexts

        def MODULE(self):
            return self.getToken(SliceParser.MODULE, 0)

        def CLOSE(self):
            return self.getToken(SliceParser.CLOSE, 0)

        def name(self):
            return self.getTypedRuleContext(SliceParser.NameContext,0)


        def OPEN(self):
            return self.getToken(SliceParser.OPEN, 0)

        def item(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.ItemContext)
            else:
                return self.getTypedRuleContext(SliceParser.ItemContext,i)


        def getRuleIndex(self):
            return SliceParser.RULE_module




    def module(self):

        localctx = SliceParser.ModuleContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_module)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 55
            self.match(SliceParser.MODULE)
            self.state = 56
            localctx.id_ = self.name()
            self.state = 57
            localctx.opening = self.match(SliceParser.OPEN)
            self.state = 61
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 19335743486) != 0):
                self.state = 58
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 63
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 64
            self.match(SliceParser.CLOSE)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class BodyContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.kind = None # Token
            self.id_ = None # NameContext
            self._name = None # NameContext
            self.bases = list() # of NameContexts
            self.opening = None # Token
            self._member = None # MemberContext
            self.members = list() # of MemberContexts

        def name(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.NameContext)
            else:
                return self.getTypedRuleContext(SliceParser.NameContext,i)


        def STRUCT(self):
            return self.getToken(SliceParser.STRUCT, 0)

        def CLASS(self):
            return self.getToken(SliceParser.CLASS, 0)

        def EXCEPTION(self):
            return self.getToken(SliceParser.EXCEPTION, 0)

        def INTERFACE(self):
            return self.getToken(SliceParser.INTERFACE, 0)

        def LPAREN(self):
            return self.getToken(SliceParser.LPAREN, 0)

        def value(self):
            return self.getTypedRuleContext(SliceParser.ValueContext,0)


        def RPAREN(self):
            return self.getToken(SliceParser.RPAREN, 0)

        def CLOSE(self):
            return self.getToken(SliceParser.CLOSE, 0)

        def EXTENDS(self, i:int=None):
            if i is None:
                return self.getTokens(SliceParser.EXTENDS)
            else:
                return self.getToken(SliceParser.EXTENDS, i)

        def IMPLEMENTS(self, i:int=None):
            if i is None:
                return self.getTokens(SliceParser.IMPLEMENTS)
            else:
                return self.getToken(SliceParser.IMPLEMENTS, i)

        def COLON(self):
            return self.getToken(SliceParser.COLON, 0)

        def OPEN(self):
            return self.getToken(SliceParser.OPEN, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(SliceParser.COMMA)
            else:
                return self.getToken(SliceParser.COMMA, i)

        def member(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.MemberContext)
            else:
                return self.getTypedRuleContext(SliceParser.MemberContext,i)


        def getRuleIndex(self):
            return SliceParser.RULE_body




    def body(self):

        localctx = SliceParser.BodyContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_body)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 66
            localctx.kind = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 60) != 0)):
                localctx.kind = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 67
            localctx.id_ = self.name()
            self.state = 72
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==27:
                self.state = 68
                self.match(SliceParser.LPAREN)
                self.state = 69
                self.value()
                self.state = 70
                self.match(SliceParser.RPAREN)


            self.state = 94
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 8589940736) != 0):
                self.state = 74
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 8589940736) != 0)):
                    self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 75
                localctx._name = self.name()
                localctx.bases.append(localctx._name)
                self.state = 80
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==35:
                    self.state = 76
                    self.match(SliceParser.COMMA)
                    self.state = 77
                    localctx._name = self.name()
                    localctx.bases.append(localctx._name)
                    self.state = 82
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 92
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==11 or _la==12:
                    self.state = 83
                    _la = self._input.LA(1)
                    if not(_la==11 or _la==12):
                        self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    self.state = 84
                    localctx._name = self.name()
                    localctx.bases.append(localctx._name)
                    self.state = 89
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==35:
                        self.state = 85
                        self.match(SliceParser.COMMA)
                        self.state = 86
                        localctx._name = self.name()
                        localctx.bases.append(localctx._name)
                        self.state = 91
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)





            self.state = 104
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==25:
                self.state = 96
                localctx.opening = self.match(SliceParser.OPEN)
                self.state = 100
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 2156871680) != 0):
                    self.state = 97
                    localctx._member = self.member()
                    localctx.members.append(localctx._member)
                    self.state = 102
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 103
                self.match(SliceParser.CLOSE)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class MemberContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._attribute = None # AttributeContext
            self.metadata = list() # of AttributeContexts
            self.idempotent = None # Token
            self.tag = None # OptionalContext
            self.of = None # TypeContext
            self.id_ = None # NameContext
            self.opening = None # Token
            self._parameter = None # ParameterContext
            self.parameters = list() # of ParameterContexts
            self.closing = None # Token
            self._name = None # NameContext
            self.errors = list() # of NameContexts
            self.init = None # ValueContext

        def name(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.NameContext)
            else:
                return self.getTypedRuleContext(SliceParser.NameContext,i)


        def VOID(self):
            return self.getToken(SliceParser.VOID, 0)

        def type_(self):
            return self.getTypedRuleContext(SliceParser.TypeContext,0)


        def LPAREN(self):
            return self.getToken(SliceParser.LPAREN, 0)

        def RPAREN(self):
            return self.getToken(SliceParser.RPAREN, 0)

        def SEMICOLON(self, i:int=None):
            if i is None:
                return self.getTokens(SliceParser.SEMICOLON)
            else:
                return self.getToken(SliceParser.SEMICOLON, i)

        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.AttributeContext)
            else:
                return self.getTypedRuleContext(SliceParser.AttributeContext,i)


        def optional(self):
            return self.getTypedRuleContext(SliceParser.OptionalContext,0)


        def IDEMPOTENT(self):
            return self.getToken(SliceParser.IDEMPOTENT, 0)

        def NONMUTATING(self):
            return self.getToken(SliceParser.NONMUTATING, 0)

        def THROWS(self):
            return self.getToken(SliceParser.THROWS, 0)

        def ASSIGN(self):
            return self.getToken(SliceParser.ASSIGN, 0)

        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.ParameterContext)
            else:
                return self.getTypedRuleContext(SliceParser.ParameterContext,i)


        def value(self):
            return self.getTypedRuleContext(SliceParser.ValueContext,0)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(SliceParser.COMMA)
            else:
                return self.getToken(SliceParser.COMMA, i)

        def getRuleIndex(self):
            return SliceParser.RULE_member




    def member(self):

        localctx = SliceParser.MemberContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_member)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 109
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==23 or _la==31:
                self.state = 106
                localctx._attribute = self.attribute()
                localctx.metadata.append(localctx._attribute)
                self.state = 111
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 113
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16 or _la==17:
                self.state = 112
                localctx.idempotent = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==16 or _la==17):
                    localctx.idempotent = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


            self.state = 116
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==18:
                self.state = 115
                localctx.tag = self.optional()


            self.state = 120
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [14]:
                self.state = 118
                self.match(SliceParser.VOID)
                pass
            elif token in [19]:
                self.state = 119
                localctx.of = self.type_()
                pass
            else:
                raise NoViableAltException(self)

            self.state = 122
            localctx.id_ = self.name()
            self.state = 146
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [27]:
                self.state = 123
                localctx.opening = self.match(SliceParser.LPAREN)
                self.state = 127
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 2156691456) != 0):
                    self.state = 124
                    localctx._parameter = self.parameter()
                    localctx.parameters.append(localctx._parameter)
                    self.state = 129
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 130
                localctx.closing = self.match(SliceParser.RPAREN)
                self.state = 140
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==13:
                    self.state = 131
                    self.match(SliceParser.THROWS)
                    self.state = 132
                    localctx._name = self.name()
                    localctx.errors.append(localctx._name)
                    self.state = 137
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==35:
                        self.state = 133
                        self.match(SliceParser.COMMA)
                        self.state = 134
                        localctx._name = self.name()
                        localctx.errors.append(localctx._name)
                        self.state = 139
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                pass
            elif token in [14, 16, 17, 18, 19, 23, 26, 31, 34, 36]:
                self.state = 144
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==36:
                    self.state = 142
                    self.match(SliceParser.ASSIGN)
                    self.state = 143
                    localctx.init = self.value()


                pass
            else:
                raise NoViableAltException(self)

            self.state = 151
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==34:
                self.state = 148
                self.match(SliceParser.SEMICOLON)
                self.state = 153
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ParameterContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._attribute = None # AttributeContext
            self.metadata = list() # of AttributeContexts
            self._OUT = None # Token
            self.out = list() # of Tokens
            self.tag = None # OptionalContext
            self.of = None # TypeContext
            self.id_ = None # NameContext

        def type_(self):
            return self.getTypedRuleContext(SliceParser.TypeContext,0)


        def name(self):
            return self.getTypedRuleContext(SliceParser.NameContext,0)


        def COMMA(self):
            return self.getToken(SliceParser.COMMA, 0)

        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.AttributeContext)
            else:
                return self.getTypedRuleContext(SliceParser.AttributeContext,i)


        def OUT(self, i:int=None):
            if i is None:
                return self.getTokens(SliceParser.OUT)
            else:
                return self.getToken(SliceParser.OUT, i)

        def optional(self):
            return self.getTypedRuleContext(SliceParser.OptionalContext,0)


        def getRuleIndex(self):
            return SliceParser.RULE_parameter




    def parameter(self):

        localctx = SliceParser.ParameterContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_parameter)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 158
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 2155905024) != 0):
                self.state = 156
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [23, 31]:
                    self.state = 154
                    localctx._attribute = self.attribute()
                    localctx.metadata.append(localctx._attribute)
                    pass
                elif token in [15]:
                    self.state = 155
                    localctx._OUT = self.match(SliceParser.OUT)
                    localctx.out.append(localctx._OUT)
                    pass
                else:
                    raise NoViableAltException(self)

                self.state = 160
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 162
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==18:
                self.state = 161
                localctx.tag = self.optional()


            self.state = 164
            localctx.of = self.type_()
            self.state = 165
            localctx.id_ = self.name()
            self.state = 167
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==35:
                self.state = 166
                self.match(SliceParser.COMMA)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class OptionalContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def OPTIONAL(self):
            return self.getToken(SliceParser.OPTIONAL, 0)

        def LPAREN(self):
            return self.getToken(SliceParser.LPAREN, 0)

        def RPAREN(self):
            return self.getToken(SliceParser.RPAREN, 0)

        def value(self):
            return self.getTypedRuleContext(SliceParser.ValueContext,0)


        def getRuleIndex(self):
            return SliceParser.RULE_optional




    def optional(self):

        localctx = SliceParser.OptionalContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_optional)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 169
            self.match(SliceParser.OPTIONAL)
            self.state = 175
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==27:
                self.state = 170
                self.match(SliceParser.LPAREN)
                self.state = 172
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 8388606) != 0):
                    self.state = 171
                    self.value()


                self.state = 174
                self.match(SliceParser.RPAREN)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EnumContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.opening = None # Token
            self._enumerator = None # EnumeratorContext
            self.members = list() # of EnumeratorContexts

        def ENUM(self):
            return self.getToken(SliceParser.ENUM, 0)

        def CLOSE(self):
            return self.getToken(SliceParser.CLOSE, 0)

        def name(self):
            return self.getTypedRuleContext(SliceParser.NameContext,0)


        def OPEN(self):
            return self.getToken(SliceParser.OPEN, 0)

        def enumerator(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.EnumeratorContext)
            else:
                return self.getTypedRuleContext(SliceParser.EnumeratorContext,i)


        def getRuleIndex(self):
            return SliceParser.RULE_enum




    def enum(self):

        localctx = SliceParser.EnumContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_enum)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 177
            self.match(SliceParser.ENUM)
            self.state = 178
            localctx.id_ = self.name()
            self.state = 179
            localctx.opening = self.match(SliceParser.OPEN)
            self.state = 183
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 2156920830) != 0):
                self.state = 180
                localctx._enumerator = self.enumerator()
                localctx.members.append(localctx._enumerator)
                self.state = 185
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 186
            self.match(SliceParser.CLOSE)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EnumeratorContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._attribute = None # AttributeContext
            self.metadata = list() # of AttributeContexts
            self.id_ = None # NameContext
            self.number = None # ValueContext

        def name(self):
            return self.getTypedRuleContext(SliceParser.NameContext,0)


        def ASSIGN(self):
            return self.getToken(SliceParser.ASSIGN, 0)

        def COMMA(self):
            return self.getToken(SliceParser.COMMA, 0)

        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.AttributeContext)
            else:
                return self.getTypedRuleContext(SliceParser.AttributeContext,i)


        def value(self):
            return self.getTypedRuleContext(SliceParser.ValueContext,0)


        def getRuleIndex(self):
            return SliceParser.RULE_enumerator




    def enumerator(self):

        localctx = SliceParser.EnumeratorContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_enumerator)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 191
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==23 or _la==31:
                self.state = 188
                localctx._attribute = self.attribute()
                localctx.metadata.append(localctx._attribute)
                self.state = 193
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 194
            localctx.id_ = self.name()
            self.state = 197
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==36:
                self.state = 195
                self.match(SliceParser.ASSIGN)
                self.state = 196
                localctx.number = self.value()


            self.state = 200
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==35:
                self.state = 199
                self.match(SliceParser.COMMA)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ContainerContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.kind = None # Token
            self._type = None # TypeContext
            self.types = list() # of TypeContexts
            self.id_ = None # NameContext

        def LESS(self):
            return self.getToken(SliceParser.LESS, 0)

        def GREATER(self):
            return self.getToken(SliceParser.GREATER, 0)

        def SEQUENCE(self):
            return self.getToken(SliceParser.SEQUENCE, 0)

        def type_(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.TypeContext)
            else:
                return self.getTypedRuleContext(SliceParser.TypeContext,i)


        def name(self):
            return self.getTypedRuleContext(SliceParser.NameContext,0)


        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.AttributeContext)
            else:
                return self.getTypedRuleContext(SliceParser.AttributeContext,i)


        def COMMA(self):
            return self.getToken(SliceParser.COMMA, 0)

        def DICTIONARY(self):
            return self.getToken(SliceParser.DICTIONARY, 0)

        def getRuleIndex(self):
            return SliceParser.RULE_container




    def container(self):

        localctx = SliceParser.ContainerContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_container)
        self._la = 0 # Token type
        try:
            self.state = 234
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.enterOuterAlt(localctx, 1)
                self.state = 202
                localctx.kind = self.match(SliceParser.SEQUENCE)
                self.state = 203
                self.match(SliceParser.LESS)
                self.state = 207
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==23 or _la==31:
                    self.state = 204
                    self.attribute()
                    self.state = 209
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 210
                localctx._type = self.type_()
                localctx.types.append(localctx._type)
                self.state = 211
                self.match(SliceParser.GREATER)
                self.state = 212
                localctx.id_ = self.name()
                pass
            elif token in [8]:
                self.enterOuterAlt(localctx, 2)
                self.state = 214
                localctx.kind = self.match(SliceParser.DICTIONARY)
                self.state = 215
                self.match(SliceParser.LESS)
                self.state = 219
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==23 or _la==31:
                    self.state = 216
                    self.attribute()
                    self.state = 221
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 222
                localctx._type = self.type_()
                localctx.types.append(localctx._type)
                self.state = 223
                self.match(SliceParser.COMMA)
                self.state = 227
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==23 or _la==31:
                    self.state = 224
                    self.attribute()
                    self.state = 229
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 230
                localctx._type = self.type_()
                localctx.types.append(localctx._type)
                self.state = 231
                self.match(SliceParser.GREATER)
                self.state = 232
                localctx.id_ = self.name()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ConstantContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of = None # TypeContext
            self.id_ = None # NameContext
            self.init = None # ValueContext

        def CONST(self):
            return self.getToken(SliceParser.CONST, 0)

        def ASSIGN(self):
            return self.getToken(SliceParser.ASSIGN, 0)

        def type_(self):
            return self.getTypedRuleContext(SliceParser.TypeContext,0)


        def name(self):
            return self.getTypedRuleContext(SliceParser.NameContext,0)


        def value(self):
            return self.getTypedRuleContext(SliceParser.ValueContext,0)


        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(SliceParser.AttributeContext)
            else:
                return self.getTypedRuleContext(SliceParser.AttributeContext,i)


        def getRuleIndex(self):
            return SliceParser.RULE_constant




    def constant(self):

        localctx = SliceParser.ConstantContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_constant)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 236
            self.match(SliceParser.CONST)
            self.state = 240
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==23 or _la==31:
                self.state = 237
                self.attribute()
                self.state = 242
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 243
            localctx.of = self.type_()
            self.state = 244
            localctx.id_ = self.name()
            self.state = 245
            self.match(SliceParser.ASSIGN)
            self.state = 246
            localctx.init = self.value()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TypeContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # Token
            self.proxy = None # Token
            self.maybe = None # Token

        def NAME(self):
            return self.getToken(SliceParser.NAME, 0)

        def STAR(self):
            return self.getToken(SliceParser.STAR, 0)

        def QUESTION(self):
            return self.getToken(SliceParser.QUESTION, 0)

        def getRuleIndex(self):
            return SliceParser.RULE_type




    def type_(self):

        localctx = SliceParser.TypeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 24, self.RULE_type)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 248
            localctx.id_ = self.match(SliceParser.NAME)
            self.state = 250
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==37:
                self.state = 249
                localctx.proxy = self.match(SliceParser.STAR)


            self.state = 253
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==38:
                self.state = 252
                localctx.maybe = self.match(SliceParser.QUESTION)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ValueContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.number = None # Token
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.id_ = None # NameContext

        def INTEGER(self):
            return self.getToken(SliceParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(SliceParser.FLOAT, 0)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(SliceParser.STRING)
            else:
                return self.getToken(SliceParser.STRING, i)

        def name(self):
            return self.getTypedRuleContext(SliceParser.NameContext,0)


        def getRuleIndex(self):
            return SliceParser.RULE_value




    def value(self):

        localctx = SliceParser.ValueContext(self, self._ctx, self.state)
        self.enterRule(localctx, 26, self.RULE_value)
        self._la = 0 # Token type
        try:
            self.state = 262
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [20, 21]:
                self.enterOuterAlt(localctx, 1)
                self.state = 255
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==20 or _la==21):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [22]:
                self.enterOuterAlt(localctx, 2)
                self.state = 257 
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while True:
                    self.state = 256
                    localctx._STRING = self.match(SliceParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 259 
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if not (_la==22):
                        break

                pass
            elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]:
                self.enterOuterAlt(localctx, 3)
                self.state = 261
                localctx.id_ = self.name()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributeContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._STRING = None # Token
            self.texts = list() # of Tokens

        def LBRACKET(self):
            return self.getToken(SliceParser.LBRACKET, 0)

        def RBRACKET(self):
            return self.getToken(SliceParser.RBRACKET, 0)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(SliceParser.STRING)
            else:
                return self.getToken(SliceParser.STRING, i)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(SliceParser.COMMA)
            else:
                return self.getToken(SliceParser.COMMA, i)

        def FILE_OPEN(self):
            return self.getToken(SliceParser.FILE_OPEN, 0)

        def FILE_CLOSE(self):
            return self.getToken(SliceParser.FILE_CLOSE, 0)

        def getRuleIndex(self):
            return SliceParser.RULE_attribute




    def attribute(self):

        localctx = SliceParser.AttributeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 28, self.RULE_attribute)
        self._la = 0 # Token type
        try:
            self.state = 286
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [31]:
                self.enterOuterAlt(localctx, 1)
                self.state = 264
                self.match(SliceParser.LBRACKET)
                self.state = 271
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==22:
                    self.state = 265
                    localctx._STRING = self.match(SliceParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 267
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==35:
                        self.state = 266
                        self.match(SliceParser.COMMA)


                    self.state = 273
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 274
                self.match(SliceParser.RBRACKET)
                pass
            elif token in [23]:
                self.enterOuterAlt(localctx, 2)
                self.state = 275
                self.match(SliceParser.FILE_OPEN)
                self.state = 282
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==22:
                    self.state = 276
                    self.match(SliceParser.STRING)
                    self.state = 278
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==35:
                        self.state = 277
                        self.match(SliceParser.COMMA)


                    self.state = 284
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 285
                self.match(SliceParser.FILE_CLOSE)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NameContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def NAME(self):
            return self.getToken(SliceParser.NAME, 0)

        def MODULE(self):
            return self.getToken(SliceParser.MODULE, 0)

        def STRUCT(self):
            return self.getToken(SliceParser.STRUCT, 0)

        def CLASS(self):
            return self.getToken(SliceParser.CLASS, 0)

        def EXCEPTION(self):
            return self.getToken(SliceParser.EXCEPTION, 0)

        def INTERFACE(self):
            return self.getToken(SliceParser.INTERFACE, 0)

        def ENUM(self):
            return self.getToken(SliceParser.ENUM, 0)

        def SEQUENCE(self):
            return self.getToken(SliceParser.SEQUENCE, 0)

        def DICTIONARY(self):
            return self.getToken(SliceParser.DICTIONARY, 0)

        def CONST(self):
            return self.getToken(SliceParser.CONST, 0)

        def LOCAL(self):
            return self.getToken(SliceParser.LOCAL, 0)

        def EXTENDS(self):
            return self.getToken(SliceParser.EXTENDS, 0)

        def IMPLEMENTS(self):
            return self.getToken(SliceParser.IMPLEMENTS, 0)

        def THROWS(self):
            return self.getToken(SliceParser.THROWS, 0)

        def VOID(self):
            return self.getToken(SliceParser.VOID, 0)

        def OUT(self):
            return self.getToken(SliceParser.OUT, 0)

        def IDEMPOTENT(self):
            return self.getToken(SliceParser.IDEMPOTENT, 0)

        def NONMUTATING(self):
            return self.getToken(SliceParser.NONMUTATING, 0)

        def OPTIONAL(self):
            return self.getToken(SliceParser.OPTIONAL, 0)

        def getRuleIndex(self):
            return SliceParser.RULE_name




    def name(self):

        localctx = SliceParser.NameContext(self, self._ctx, self.state)
        self.enterRule(localctx, 30, self.RULE_name)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 288
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 1048574) != 0)):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx





