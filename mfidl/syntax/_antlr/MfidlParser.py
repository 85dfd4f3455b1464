# Generated from grammar/MfidlParser.g4 by ANTLR 4.13.2
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
        4,1,48,480,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,2,23,7,23,2,24,7,24,2,25,7,25,2,26,7,26,
        2,27,7,27,2,28,7,28,2,29,7,29,2,30,7,30,1,0,5,0,64,8,0,10,0,12,0,
        67,9,0,1,0,1,0,1,1,5,1,72,8,1,10,1,12,1,75,9,1,1,1,1,1,3,1,79,8,
        1,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,3,2,91,8,2,1,3,1,3,1,3,
        1,3,1,4,1,4,1,4,1,4,3,4,101,8,4,1,4,1,4,1,5,1,5,1,5,1,5,1,5,5,5,
        110,8,5,10,5,12,5,113,9,5,1,5,1,5,1,5,1,5,1,6,1,6,1,6,1,6,1,6,5,
        6,124,8,6,10,6,12,6,127,9,6,1,6,1,6,1,7,1,7,1,7,1,7,1,7,1,7,1,8,
        3,8,138,8,8,1,8,1,8,1,8,1,8,3,8,144,8,8,1,8,1,8,1,9,1,9,1,9,1,9,
        3,9,152,8,9,1,9,1,9,1,10,1,10,1,10,1,10,3,10,160,8,10,1,11,1,11,
        1,11,1,11,3,11,166,8,11,1,11,1,11,1,12,1,12,1,12,1,12,3,12,174,8,
        12,1,12,1,12,1,12,5,12,179,8,12,10,12,12,12,182,9,12,1,12,1,12,1,
        13,1,13,1,13,1,13,3,13,190,8,13,5,13,192,8,13,10,13,12,13,195,9,
        13,3,13,197,8,13,1,13,1,13,1,14,5,14,202,8,14,10,14,12,14,205,9,
        14,1,14,1,14,1,14,3,14,210,8,14,1,14,5,14,213,8,14,10,14,12,14,216,
        9,14,1,15,1,15,5,15,220,8,15,10,15,12,15,223,9,15,1,15,1,15,1,16,
        5,16,228,8,16,10,16,12,16,231,9,16,1,16,1,16,1,16,3,16,236,8,16,
        1,16,1,16,1,16,1,16,5,16,242,8,16,10,16,12,16,245,9,16,1,16,1,16,
        1,16,5,16,250,8,16,10,16,12,16,253,9,16,3,16,255,8,16,1,16,1,16,
        1,16,5,16,260,8,16,10,16,12,16,263,9,16,3,16,265,8,16,1,16,1,16,
        1,17,1,17,1,17,1,17,3,17,273,8,17,3,17,275,8,17,1,18,1,18,5,18,279,
        8,18,10,18,12,18,282,9,18,1,18,1,18,1,19,5,19,287,8,19,10,19,12,
        19,290,9,19,1,19,1,19,1,19,1,19,1,19,1,19,5,19,298,8,19,10,19,12,
        19,301,9,19,3,19,303,8,19,3,19,305,8,19,1,19,1,19,1,19,1,19,5,19,
        311,8,19,10,19,12,19,314,9,19,3,19,316,8,19,1,19,1,19,1,20,1,20,
        1,20,1,20,3,20,324,8,20,5,20,326,8,20,10,20,12,20,329,9,20,3,20,
        331,8,20,1,20,1,20,1,21,5,21,336,8,21,10,21,12,21,339,9,21,1,21,
        1,21,1,21,3,21,344,8,21,1,21,1,21,1,21,1,21,5,21,350,8,21,10,21,
        12,21,353,9,21,1,21,1,21,1,21,5,21,358,8,21,10,21,12,21,361,9,21,
        3,21,363,8,21,1,22,1,22,1,22,1,22,1,22,5,22,370,8,22,10,22,12,22,
        373,9,22,1,22,1,22,3,22,377,8,22,1,22,5,22,380,8,22,10,22,12,22,
        383,9,22,1,23,1,23,5,23,387,8,23,10,23,12,23,390,9,23,1,23,3,23,
        393,8,23,1,24,1,24,1,24,1,24,1,24,1,24,3,24,401,8,24,5,24,403,8,
        24,10,24,12,24,406,9,24,3,24,408,8,24,1,24,3,24,411,8,24,1,25,1,
        25,1,25,1,25,1,25,3,25,418,8,25,3,25,420,8,25,1,25,1,25,3,25,424,
        8,25,1,26,1,26,1,26,3,26,429,8,26,1,26,1,26,1,26,1,26,1,26,1,26,
        1,26,3,26,438,8,26,5,26,440,8,26,10,26,12,26,443,9,26,3,26,445,8,
        26,1,26,1,26,1,26,1,26,1,26,3,26,452,8,26,5,26,454,8,26,10,26,12,
        26,457,9,26,3,26,459,8,26,1,26,3,26,462,8,26,1,27,1,27,1,27,1,27,
        1,28,1,28,1,29,1,29,1,29,5,29,473,8,29,10,29,12,29,476,9,29,1,30,
        1,30,1,30,0,0,31,0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,
        36,38,40,42,44,46,48,50,52,54,56,58,60,0,5,3,0,5,5,12,12,16,16,1,
        0,18,22,1,0,23,24,2,0,18,18,21,22,1,0,1,17,527,0,65,1,0,0,0,2,78,
        1,0,0,0,4,90,1,0,0,0,6,92,1,0,0,0,8,96,1,0,0,0,10,104,1,0,0,0,12,
        118,1,0,0,0,14,130,1,0,0,0,16,137,1,0,0,0,18,147,1,0,0,0,20,155,
        1,0,0,0,22,161,1,0,0,0,24,169,1,0,0,0,26,185,1,0,0,0,28,203,1,0,
        0,0,30,217,1,0,0,0,32,229,1,0,0,0,34,274,1,0,0,0,36,276,1,0,0,0,
        38,288,1,0,0,0,40,319,1,0,0,0,42,337,1,0,0,0,44,364,1,0,0,0,46,392,
        1,0,0,0,48,394,1,0,0,0,50,423,1,0,0,0,52,461,1,0,0,0,54,463,1,0,
        0,0,56,467,1,0,0,0,58,469,1,0,0,0,60,477,1,0,0,0,62,64,3,2,1,0,63,
        62,1,0,0,0,64,67,1,0,0,0,65,63,1,0,0,0,65,66,1,0,0,0,66,68,1,0,0,
        0,67,65,1,0,0,0,68,69,5,0,0,1,69,1,1,0,0,0,70,72,3,48,24,0,71,70,
        1,0,0,0,72,75,1,0,0,0,73,71,1,0,0,0,73,74,1,0,0,0,74,76,1,0,0,0,
        75,73,1,0,0,0,76,79,3,4,2,0,77,79,5,42,0,0,78,73,1,0,0,0,78,77,1,
        0,0,0,79,3,1,0,0,0,80,91,3,6,3,0,81,91,3,8,4,0,82,91,3,10,5,0,83,
        91,3,12,6,0,84,91,3,14,7,0,85,91,3,16,8,0,86,91,3,18,9,0,87,91,3,
        20,10,0,88,91,3,22,11,0,89,91,3,24,12,0,90,80,1,0,0,0,90,81,1,0,
        0,0,90,82,1,0,0,0,90,83,1,0,0,0,90,84,1,0,0,0,90,85,1,0,0,0,90,86,
        1,0,0,0,90,87,1,0,0,0,90,88,1,0,0,0,90,89,1,0,0,0,91,5,1,0,0,0,92,
        93,5,8,0,0,93,94,3,58,29,0,94,95,5,42,0,0,95,7,1,0,0,0,96,97,5,7,
        0,0,97,100,5,23,0,0,98,99,5,2,0,0,99,101,3,60,30,0,100,98,1,0,0,
        0,100,101,1,0,0,0,101,102,1,0,0,0,102,103,5,42,0,0,103,9,1,0,0,0,
        104,105,5,3,0,0,105,106,3,60,30,0,106,107,5,30,0,0,107,111,3,44,
        22,0,108,110,3,48,24,0,109,108,1,0,0,0,110,113,1,0,0,0,111,109,1,
        0,0,0,111,112,1,0,0,0,112,114,1,0,0,0,113,111,1,0,0,0,114,115,5,
        28,0,0,115,116,3,52,26,0,116,117,5,42,0,0,117,11,1,0,0,0,118,119,
        5,15,0,0,119,120,3,60,30,0,120,121,5,28,0,0,121,125,3,44,22,0,122,
        124,3,48,24,0,123,122,1,0,0,0,124,127,1,0,0,0,125,123,1,0,0,0,125,
        126,1,0,0,0,126,128,1,0,0,0,127,125,1,0,0,0,128,129,5,42,0,0,129,
        13,1,0,0,0,130,131,5,1,0,0,131,132,3,60,30,0,132,133,5,30,0,0,133,
        134,3,44,22,0,134,135,5,42,0,0,135,15,1,0,0,0,136,138,5,9,0,0,137,
        136,1,0,0,0,137,138,1,0,0,0,138,139,1,0,0,0,139,140,5,4,0,0,140,
        143,3,60,30,0,141,142,5,30,0,0,142,144,3,44,22,0,143,141,1,0,0,0,
        143,144,1,0,0,0,144,145,1,0,0,0,145,146,3,26,13,0,146,17,1,0,0,0,
        147,148,5,6,0,0,148,151,3,60,30,0,149,150,5,30,0,0,150,152,3,44,
        22,0,151,149,1,0,0,0,151,152,1,0,0,0,152,153,1,0,0,0,153,154,3,26,
        13,0,154,19,1,0,0,0,155,156,7,0,0,0,156,159,3,60,30,0,157,160,3,
        30,15,0,158,160,5,42,0,0,159,157,1,0,0,0,159,158,1,0,0,0,160,21,
        1,0,0,0,161,162,5,11,0,0,162,165,3,60,30,0,163,164,5,10,0,0,164,
        166,3,58,29,0,165,163,1,0,0,0,165,166,1,0,0,0,166,167,1,0,0,0,167,
        168,3,36,18,0,168,23,1,0,0,0,169,170,5,14,0,0,170,173,3,60,30,0,
        171,172,5,10,0,0,172,174,3,58,29,0,173,171,1,0,0,0,173,174,1,0,0,
        0,174,175,1,0,0,0,175,176,5,30,0,0,176,180,3,44,22,0,177,179,3,48,
        24,0,178,177,1,0,0,0,179,182,1,0,0,0,180,178,1,0,0,0,180,181,1,0,
        0,0,181,183,1,0,0,0,182,180,1,0,0,0,183,184,5,42,0,0,184,25,1,0,
        0,0,185,196,5,38,0,0,186,193,3,28,14,0,187,189,5,31,0,0,188,190,
        3,28,14,0,189,188,1,0,0,0,189,190,1,0,0,0,190,192,1,0,0,0,191,187,
        1,0,0,0,192,195,1,0,0,0,193,191,1,0,0,0,193,194,1,0,0,0,194,197,
        1,0,0,0,195,193,1,0,0,0,196,186,1,0,0,0,196,197,1,0,0,0,197,198,
        1,0,0,0,198,199,5,29,0,0,199,27,1,0,0,0,200,202,3,48,24,0,201,200,
        1,0,0,0,202,205,1,0,0,0,203,201,1,0,0,0,203,204,1,0,0,0,204,206,
        1,0,0,0,205,203,1,0,0,0,206,209,3,60,30,0,207,208,5,28,0,0,208,210,
        3,52,26,0,209,207,1,0,0,0,209,210,1,0,0,0,210,214,1,0,0,0,211,213,
        3,48,24,0,212,211,1,0,0,0,213,216,1,0,0,0,214,212,1,0,0,0,214,215,
        1,0,0,0,215,29,1,0,0,0,216,214,1,0,0,0,217,221,5,38,0,0,218,220,
        3,32,16,0,219,218,1,0,0,0,220,223,1,0,0,0,221,219,1,0,0,0,221,222,
        1,0,0,0,222,224,1,0,0,0,223,221,1,0,0,0,224,225,5,29,0,0,225,31,
        1,0,0,0,226,228,3,48,24,0,227,226,1,0,0,0,228,231,1,0,0,0,229,227,
        1,0,0,0,229,230,1,0,0,0,230,235,1,0,0,0,231,229,1,0,0,0,232,233,
        3,56,28,0,233,234,5,30,0,0,234,236,1,0,0,0,235,232,1,0,0,0,235,236,
        1,0,0,0,236,237,1,0,0,0,237,264,3,60,30,0,238,239,5,30,0,0,239,243,
        3,44,22,0,240,242,3,48,24,0,241,240,1,0,0,0,242,245,1,0,0,0,243,
        241,1,0,0,0,243,244,1,0,0,0,244,254,1,0,0,0,245,243,1,0,0,0,246,
        247,5,28,0,0,247,251,3,52,26,0,248,250,3,48,24,0,249,248,1,0,0,0,
        250,253,1,0,0,0,251,249,1,0,0,0,251,252,1,0,0,0,252,255,1,0,0,0,
        253,251,1,0,0,0,254,246,1,0,0,0,254,255,1,0,0,0,255,265,1,0,0,0,
        256,261,3,34,17,0,257,258,5,31,0,0,258,260,3,34,17,0,259,257,1,0,
        0,0,260,263,1,0,0,0,261,259,1,0,0,0,261,262,1,0,0,0,262,265,1,0,
        0,0,263,261,1,0,0,0,264,238,1,0,0,0,264,256,1,0,0,0,265,266,1,0,
        0,0,266,267,5,42,0,0,267,33,1,0,0,0,268,275,5,23,0,0,269,272,3,56,
        28,0,270,271,5,26,0,0,271,273,3,56,28,0,272,270,1,0,0,0,272,273,
        1,0,0,0,273,275,1,0,0,0,274,268,1,0,0,0,274,269,1,0,0,0,275,35,1,
        0,0,0,276,280,5,38,0,0,277,279,3,38,19,0,278,277,1,0,0,0,279,282,
        1,0,0,0,280,278,1,0,0,0,280,281,1,0,0,0,281,283,1,0,0,0,282,280,
        1,0,0,0,283,284,5,29,0,0,284,37,1,0,0,0,285,287,3,48,24,0,286,285,
        1,0,0,0,287,290,1,0,0,0,288,286,1,0,0,0,288,289,1,0,0,0,289,291,
        1,0,0,0,290,288,1,0,0,0,291,292,3,60,30,0,292,304,3,40,20,0,293,
        302,5,25,0,0,294,303,3,40,20,0,295,299,3,44,22,0,296,298,3,48,24,
        0,297,296,1,0,0,0,298,301,1,0,0,0,299,297,1,0,0,0,299,300,1,0,0,
        0,300,303,1,0,0,0,301,299,1,0,0,0,302,294,1,0,0,0,302,295,1,0,0,
        0,303,305,1,0,0,0,304,293,1,0,0,0,304,305,1,0,0,0,305,315,1,0,0,
        0,306,307,5,13,0,0,307,312,3,58,29,0,308,309,5,31,0,0,309,311,3,
        58,29,0,310,308,1,0,0,0,311,314,1,0,0,0,312,310,1,0,0,0,312,313,
        1,0,0,0,313,316,1,0,0,0,314,312,1,0,0,0,315,306,1,0,0,0,315,316,
        1,0,0,0,316,317,1,0,0,0,317,318,5,42,0,0,318,39,1,0,0,0,319,330,
        5,36,0,0,320,327,3,42,21,0,321,323,5,31,0,0,322,324,3,42,21,0,323,
        322,1,0,0,0,323,324,1,0,0,0,324,326,1,0,0,0,325,321,1,0,0,0,326,
        329,1,0,0,0,327,325,1,0,0,0,327,328,1,0,0,0,328,331,1,0,0,0,329,
        327,1,0,0,0,330,320,1,0,0,0,330,331,1,0,0,0,331,332,1,0,0,0,332,
        333,5,41,0,0,333,41,1,0,0,0,334,336,3,48,24,0,335,334,1,0,0,0,336,
        339,1,0,0,0,337,335,1,0,0,0,337,338,1,0,0,0,338,343,1,0,0,0,339,
        337,1,0,0,0,340,341,3,56,28,0,341,342,5,30,0,0,342,344,1,0,0,0,343,
        340,1,0,0,0,343,344,1,0,0,0,344,345,1,0,0,0,345,346,3,60,30,0,346,
        347,5,30,0,0,347,351,3,44,22,0,348,350,3,48,24,0,349,348,1,0,0,0,
        350,353,1,0,0,0,351,349,1,0,0,0,351,352,1,0,0,0,352,362,1,0,0,0,
        353,351,1,0,0,0,354,355,5,28,0,0,355,359,3,52,26,0,356,358,3,48,
        24,0,357,356,1,0,0,0,358,361,1,0,0,0,359,357,1,0,0,0,359,360,1,0,
        0,0,360,363,1,0,0,0,361,359,1,0,0,0,362,354,1,0,0,0,362,363,1,0,
        0,0,363,43,1,0,0,0,364,376,3,58,29,0,365,366,5,35,0,0,366,371,3,
        46,23,0,367,368,5,31,0,0,368,370,3,46,23,0,369,367,1,0,0,0,370,373,
        1,0,0,0,371,369,1,0,0,0,371,372,1,0,0,0,372,374,1,0,0,0,373,371,
        1,0,0,0,374,375,5,33,0,0,375,377,1,0,0,0,376,365,1,0,0,0,376,377,
        1,0,0,0,377,381,1,0,0,0,378,380,5,39,0,0,379,378,1,0,0,0,380,383,
        1,0,0,0,381,379,1,0,0,0,381,382,1,0,0,0,382,45,1,0,0,0,383,381,1,
        0,0,0,384,388,3,44,22,0,385,387,3,48,24,0,386,385,1,0,0,0,387,390,
        1,0,0,0,388,386,1,0,0,0,388,389,1,0,0,0,389,393,1,0,0,0,390,388,
        1,0,0,0,391,393,3,56,28,0,392,384,1,0,0,0,392,391,1,0,0,0,393,47,
        1,0,0,0,394,395,5,27,0,0,395,410,3,58,29,0,396,407,5,36,0,0,397,
        404,3,50,25,0,398,400,5,31,0,0,399,401,3,50,25,0,400,399,1,0,0,0,
        400,401,1,0,0,0,401,403,1,0,0,0,402,398,1,0,0,0,403,406,1,0,0,0,
        404,402,1,0,0,0,404,405,1,0,0,0,405,408,1,0,0,0,406,404,1,0,0,0,
        407,397,1,0,0,0,407,408,1,0,0,0,408,409,1,0,0,0,409,411,5,41,0,0,
        410,396,1,0,0,0,410,411,1,0,0,0,411,49,1,0,0,0,412,419,3,52,26,0,
        413,414,5,28,0,0,414,420,3,52,26,0,415,417,5,26,0,0,416,418,3,52,
        26,0,417,416,1,0,0,0,417,418,1,0,0,0,418,420,1,0,0,0,419,413,1,0,
        0,0,419,415,1,0,0,0,419,420,1,0,0,0,420,424,1,0,0,0,421,422,5,26,
        0,0,422,424,3,52,26,0,423,412,1,0,0,0,423,421,1,0,0,0,424,51,1,0,
        0,0,425,428,5,37,0,0,426,429,7,1,0,0,427,429,3,58,29,0,428,426,1,
        0,0,0,428,427,1,0,0,0,429,462,1,0,0,0,430,462,7,1,0,0,431,462,7,
        2,0,0,432,462,3,58,29,0,433,444,5,34,0,0,434,441,3,52,26,0,435,437,
        5,31,0,0,436,438,3,52,26,0,437,436,1,0,0,0,437,438,1,0,0,0,438,440,
        1,0,0,0,439,435,1,0,0,0,440,443,1,0,0,0,441,439,1,0,0,0,441,442,
        1,0,0,0,442,445,1,0,0,0,443,441,1,0,0,0,444,434,1,0,0,0,444,445,
        1,0,0,0,445,446,1,0,0,0,446,462,5,40,0,0,447,458,5,38,0,0,448,455,
        3,54,27,0,449,451,5,31,0,0,450,452,3,54,27,0,451,450,1,0,0,0,451,
        452,1,0,0,0,452,454,1,0,0,0,453,449,1,0,0,0,454,457,1,0,0,0,455,
        453,1,0,0,0,455,456,1,0,0,0,456,459,1,0,0,0,457,455,1,0,0,0,458,
        448,1,0,0,0,458,459,1,0,0,0,459,460,1,0,0,0,460,462,5,29,0,0,461,
        425,1,0,0,0,461,430,1,0,0,0,461,431,1,0,0,0,461,432,1,0,0,0,461,
        433,1,0,0,0,461,447,1,0,0,0,462,53,1,0,0,0,463,464,3,52,26,0,464,
        465,5,30,0,0,465,466,3,52,26,0,466,55,1,0,0,0,467,468,7,3,0,0,468,
        57,1,0,0,0,469,474,3,60,30,0,470,471,5,32,0,0,471,473,3,60,30,0,
        472,470,1,0,0,0,473,476,1,0,0,0,474,472,1,0,0,0,474,475,1,0,0,0,
        475,59,1,0,0,0,476,474,1,0,0,0,477,478,7,4,0,0,478,61,1,0,0,0,66,
        65,73,78,90,100,111,125,137,143,151,159,165,173,180,189,193,196,
        203,209,214,221,229,235,243,251,254,261,264,272,274,280,288,299,
        302,304,312,315,323,327,330,337,343,351,359,362,371,376,381,388,
        392,400,404,407,410,417,419,423,428,437,441,444,451,455,458,461,
        474
    ]

class MfidlParser ( Parser ):

    grammarFileName = "MfidlParser.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'agent'", "'as'", "'const'", "'enum'", 
                     "'error'", "'flags'", "'import'", "'module'", "'open'", 
                     "'per'", "'service'", "'struct'", "'throws'", "'topic'", 
                     "'type'", "'union'", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "'->'", "'..'", "'@'", "'='", "'}'", "':'", 
                     "','", "'.'", "'>'", "'['", "'<'", "'('", "'-'", "'{'", 
                     "'?'", "']'", "')'", "';'" ]

    symbolicNames = [ "<INVALID>", "AGENT", "AS", "CONST", "ENUM", "ERROR", 
                      "FLAGS", "IMPORT", "MODULE", "OPEN", "PER", "SERVICE", 
                      "STRUCT", "THROWS", "TOPIC", "TYPE", "UNION", "NAME", 
                      "HEX", "FLOAT", "DURATION", "INTEGER", "BAD_NUMBER", 
                      "STRING", "BAD_STRING", "ARROW", "DOTS", "AT", "ASSIGN", 
                      "CLOSE", "COLON", "COMMA", "DOT", "GREATER", "LBRACKET", 
                      "LESS", "LPAREN", "MINUS", "OPEN_BRACE", "QUESTION", 
                      "RBRACKET", "RPAREN", "SEMICOLON", "DOC_COMMENT", 
                      "LINE_COMMENT", "BLOCK_COMMENT", "OPEN_COMMENT", "SPACE", 
                      "BAD" ]

    RULE_file = 0
    RULE_item = 1
    RULE_decl = 2
    RULE_moduleDecl = 3
    RULE_importDecl = 4
    RULE_constDecl = 5
    RULE_aliasDecl = 6
    RULE_agentDecl = 7
    RULE_enumDecl = 8
    RULE_flagsDecl = 9
    RULE_structDecl = 10
    RULE_serviceDecl = 11
    RULE_topicDecl = 12
    RULE_enumBody = 13
    RULE_enumMember = 14
    RULE_structBody = 15
    RULE_structMember = 16
    RULE_reservedItem = 17
    RULE_serviceBody = 18
    RULE_method = 19
    RULE_fieldList = 20
    RULE_field = 21
    RULE_type = 22
    RULE_typeArgument = 23
    RULE_annotation = 24
    RULE_argument = 25
    RULE_value = 26
    RULE_entry = 27
    RULE_integer = 28
    RULE_path = 29
    RULE_name = 30

    ruleNames =  [ "file", "item", "decl", "moduleDecl", "importDecl", "constDecl", 
                   "aliasDecl", "agentDecl", "enumDecl", "flagsDecl", "structDecl", 
                   "serviceDecl", "topicDecl", "enumBody", "enumMember", 
                   "structBody", "structMember", "reservedItem", "serviceBody", 
                   "method", "fieldList", "field", "type", "typeArgument", 
                   "annotation", "argument", "value", "entry", "integer", 
                   "path", "name" ]

    EOF = Token.EOF
    AGENT=1
    AS=2
    CONST=3
    ENUM=4
    ERROR=5
    FLAGS=6
    IMPORT=7
    MODULE=8
    OPEN=9
    PER=10
    SERVICE=11
    STRUCT=12
    THROWS=13
    TOPIC=14
    TYPE=15
    UNION=16
    NAME=17
    HEX=18
    FLOAT=19
    DURATION=20
    INTEGER=21
    BAD_NUMBER=22
    STRING=23
    BAD_STRING=24
    ARROW=25
    DOTS=26
    AT=27
    ASSIGN=28
    CLOSE=29
    COLON=30
    COMMA=31
    DOT=32
    GREATER=33
    LBRACKET=34
    LESS=35
    LPAREN=36
    MINUS=37
    OPEN_BRACE=38
    QUESTION=39
    RBRACKET=40
    RPAREN=41
    SEMICOLON=42
    DOC_COMMENT=43
    LINE_COMMENT=44
    BLOCK_COMMENT=45
    OPEN_COMMENT=46
    SPACE=47
    BAD=48

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
            return self.getToken(MfidlParser.EOF, 0)

        def item(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ItemContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ItemContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_file




    def file_(self):

        localctx = MfidlParser.FileContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_file)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 65
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 4398180850682) != 0):
                self.state = 62
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 67
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 68
            self.match(MfidlParser.EOF)
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
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.declaration = None # DeclContext

        def decl(self):
            return self.getTypedRuleContext(MfidlParser.DeclContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_item




    def item(self):

        localctx = MfidlParser.ItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_item)
        self._la = 0 # Token type
        try:
            self.state = 78
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 15, 16, 27]:
                self.enterOuterAlt(localctx, 1)
                self.state = 73
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==27:
                    self.state = 70
                    localctx._annotation = self.annotation()
                    localctx.annotations.append(localctx._annotation)
                    self.state = 75
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 76
                localctx.declaration = self.decl()
                pass
            elif token in [42]:
                self.enterOuterAlt(localctx, 2)
                self.state = 77
                self.match(MfidlParser.SEMICOLON)
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


    class DeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.a = None # ModuleDeclContext
            self.b = None # ImportDeclContext
            self.c = None # ConstDeclContext
            self.d = None # AliasDeclContext
            self.e = None # AgentDeclContext
            self.f = None # EnumDeclContext
            self.g = None # FlagsDeclContext
            self.h = None # StructDeclContext
            self.i = None # ServiceDeclContext
            self.j = None # TopicDeclContext

        def moduleDecl(self):
            return self.getTypedRuleContext(MfidlParser.ModuleDeclContext,0)


        def importDecl(self):
            return self.getTypedRuleContext(MfidlParser.ImportDeclContext,0)


        def constDecl(self):
            return self.getTypedRuleContext(MfidlParser.ConstDeclContext,0)


        def aliasDecl(self):
            return self.getTypedRuleContext(MfidlParser.AliasDeclContext,0)


        def agentDecl(self):
            return self.getTypedRuleContext(MfidlParser.AgentDeclContext,0)


        def enumDecl(self):
            return self.getTypedRuleContext(MfidlParser.EnumDeclContext,0)


        def flagsDecl(self):
            return self.getTypedRuleContext(MfidlParser.FlagsDeclContext,0)


        def structDecl(self):
            return self.getTypedRuleContext(MfidlParser.StructDeclContext,0)


        def serviceDecl(self):
            return self.getTypedRuleContext(MfidlParser.ServiceDeclContext,0)


        def topicDecl(self):
            return self.getTypedRuleContext(MfidlParser.TopicDeclContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_decl




    def decl(self):

        localctx = MfidlParser.DeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_decl)
        try:
            self.state = 90
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [8]:
                self.enterOuterAlt(localctx, 1)
                self.state = 80
                localctx.a = self.moduleDecl()
                pass
            elif token in [7]:
                self.enterOuterAlt(localctx, 2)
                self.state = 81
                localctx.b = self.importDecl()
                pass
            elif token in [3]:
                self.enterOuterAlt(localctx, 3)
                self.state = 82
                localctx.c = self.constDecl()
                pass
            elif token in [15]:
                self.enterOuterAlt(localctx, 4)
                self.state = 83
                localctx.d = self.aliasDecl()
                pass
            elif token in [1]:
                self.enterOuterAlt(localctx, 5)
                self.state = 84
                localctx.e = self.agentDecl()
                pass
            elif token in [4, 9]:
                self.enterOuterAlt(localctx, 6)
                self.state = 85
                localctx.f = self.enumDecl()
                pass
            elif token in [6]:
                self.enterOuterAlt(localctx, 7)
                self.state = 86
                localctx.g = self.flagsDecl()
                pass
            elif token in [5, 12, 16]:
                self.enterOuterAlt(localctx, 8)
                self.state = 87
                localctx.h = self.structDecl()
                pass
            elif token in [11]:
                self.enterOuterAlt(localctx, 9)
                self.state = 88
                localctx.i = self.serviceDecl()
                pass
            elif token in [14]:
                self.enterOuterAlt(localctx, 10)
                self.state = 89
                localctx.j = self.topicDecl()
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


    class ModuleDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # PathContext

        def MODULE(self):
            return self.getToken(MfidlParser.MODULE, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_moduleDecl




    def moduleDecl(self):

        localctx = MfidlParser.ModuleDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_moduleDecl)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 92
            self.match(MfidlParser.MODULE)
            self.state = 93
            localctx.id_ = self.path()
            self.state = 94
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ImportDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.target = None # Token
            self.alias = None # NameContext

        def IMPORT(self):
            return self.getToken(MfidlParser.IMPORT, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def STRING(self):
            return self.getToken(MfidlParser.STRING, 0)

        def AS(self):
            return self.getToken(MfidlParser.AS, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_importDecl




    def importDecl(self):

        localctx = MfidlParser.ImportDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_importDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 96
            self.match(MfidlParser.IMPORT)
            self.state = 97
            localctx.target = self.match(MfidlParser.STRING)
            self.state = 100
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==2:
                self.state = 98
                self.match(MfidlParser.AS)
                self.state = 99
                localctx.alias = self.name()


            self.state = 102
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ConstDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.of = None # TypeContext
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.init = None # ValueContext

        def CONST(self):
            return self.getToken(MfidlParser.CONST, 0)

        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def value(self):
            return self.getTypedRuleContext(MfidlParser.ValueContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_constDecl




    def constDecl(self):

        localctx = MfidlParser.ConstDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_constDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 104
            self.match(MfidlParser.CONST)
            self.state = 105
            localctx.id_ = self.name()
            self.state = 106
            self.match(MfidlParser.COLON)
            self.state = 107
            localctx.of = self.type_()
            self.state = 111
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==27:
                self.state = 108
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 113
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 114
            self.match(MfidlParser.ASSIGN)
            self.state = 115
            localctx.init = self.value()
            self.state = 116
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AliasDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.of = None # TypeContext
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts

        def TYPE(self):
            return self.getToken(MfidlParser.TYPE, 0)

        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_aliasDecl




    def aliasDecl(self):

        localctx = MfidlParser.AliasDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_aliasDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 118
            self.match(MfidlParser.TYPE)
            self.state = 119
            localctx.id_ = self.name()
            self.state = 120
            self.match(MfidlParser.ASSIGN)
            self.state = 121
            localctx.of = self.type_()
            self.state = 125
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==27:
                self.state = 122
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 127
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 128
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AgentDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.of = None # TypeContext

        def AGENT(self):
            return self.getToken(MfidlParser.AGENT, 0)

        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_agentDecl




    def agentDecl(self):

        localctx = MfidlParser.AgentDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_agentDecl)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 130
            self.match(MfidlParser.AGENT)
            self.state = 131
            localctx.id_ = self.name()
            self.state = 132
            self.match(MfidlParser.COLON)
            self.state = 133
            localctx.of = self.type_()
            self.state = 134
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EnumDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.open_ = None # Token
            self.id_ = None # NameContext
            self.base = None # TypeContext
            self.body = None # EnumBodyContext

        def ENUM(self):
            return self.getToken(MfidlParser.ENUM, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def enumBody(self):
            return self.getTypedRuleContext(MfidlParser.EnumBodyContext,0)


        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def OPEN(self):
            return self.getToken(MfidlParser.OPEN, 0)

        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_enumDecl




    def enumDecl(self):

        localctx = MfidlParser.EnumDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_enumDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 137
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==9:
                self.state = 136
                localctx.open_ = self.match(MfidlParser.OPEN)


            self.state = 139
            self.match(MfidlParser.ENUM)
            self.state = 140
            localctx.id_ = self.name()
            self.state = 143
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==30:
                self.state = 141
                self.match(MfidlParser.COLON)
                self.state = 142
                localctx.base = self.type_()


            self.state = 145
            localctx.body = self.enumBody()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FlagsDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.base = None # TypeContext
            self.body = None # EnumBodyContext

        def FLAGS(self):
            return self.getToken(MfidlParser.FLAGS, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def enumBody(self):
            return self.getTypedRuleContext(MfidlParser.EnumBodyContext,0)


        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_flagsDecl




    def flagsDecl(self):

        localctx = MfidlParser.FlagsDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_flagsDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 147
            self.match(MfidlParser.FLAGS)
            self.state = 148
            localctx.id_ = self.name()
            self.state = 151
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==30:
                self.state = 149
                self.match(MfidlParser.COLON)
                self.state = 150
                localctx.base = self.type_()


            self.state = 153
            localctx.body = self.enumBody()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StructDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.kind = None # Token
            self.id_ = None # NameContext
            self.body = None # StructBodyContext

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def STRUCT(self):
            return self.getToken(MfidlParser.STRUCT, 0)

        def ERROR(self):
            return self.getToken(MfidlParser.ERROR, 0)

        def UNION(self):
            return self.getToken(MfidlParser.UNION, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def structBody(self):
            return self.getTypedRuleContext(MfidlParser.StructBodyContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_structDecl




    def structDecl(self):

        localctx = MfidlParser.StructDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_structDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 155
            localctx.kind = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 69664) != 0)):
                localctx.kind = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 156
            localctx.id_ = self.name()
            self.state = 159
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [38]:
                self.state = 157
                localctx.body = self.structBody()
                pass
            elif token in [42]:
                self.state = 158
                self.match(MfidlParser.SEMICOLON)
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


    class ServiceDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.agent = None # PathContext
            self.body = None # ServiceBodyContext

        def SERVICE(self):
            return self.getToken(MfidlParser.SERVICE, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def serviceBody(self):
            return self.getTypedRuleContext(MfidlParser.ServiceBodyContext,0)


        def PER(self):
            return self.getToken(MfidlParser.PER, 0)

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_serviceDecl




    def serviceDecl(self):

        localctx = MfidlParser.ServiceDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_serviceDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 161
            self.match(MfidlParser.SERVICE)
            self.state = 162
            localctx.id_ = self.name()
            self.state = 165
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==10:
                self.state = 163
                self.match(MfidlParser.PER)
                self.state = 164
                localctx.agent = self.path()


            self.state = 167
            localctx.body = self.serviceBody()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TopicDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.agent = None # PathContext
            self.of = None # TypeContext
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts

        def TOPIC(self):
            return self.getToken(MfidlParser.TOPIC, 0)

        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def PER(self):
            return self.getToken(MfidlParser.PER, 0)

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_topicDecl




    def topicDecl(self):

        localctx = MfidlParser.TopicDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 24, self.RULE_topicDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 169
            self.match(MfidlParser.TOPIC)
            self.state = 170
            localctx.id_ = self.name()
            self.state = 173
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==10:
                self.state = 171
                self.match(MfidlParser.PER)
                self.state = 172
                localctx.agent = self.path()


            self.state = 175
            self.match(MfidlParser.COLON)
            self.state = 176
            localctx.of = self.type_()
            self.state = 180
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==27:
                self.state = 177
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 182
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 183
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EnumBodyContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.opening = None # Token
            self._enumMember = None # EnumMemberContext
            self.members = list() # of EnumMemberContexts

        def CLOSE(self):
            return self.getToken(MfidlParser.CLOSE, 0)

        def OPEN_BRACE(self):
            return self.getToken(MfidlParser.OPEN_BRACE, 0)

        def enumMember(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.EnumMemberContext)
            else:
                return self.getTypedRuleContext(MfidlParser.EnumMemberContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_enumBody




    def enumBody(self):

        localctx = MfidlParser.EnumBodyContext(self, self._ctx, self.state)
        self.enterRule(localctx, 26, self.RULE_enumBody)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 185
            localctx.opening = self.match(MfidlParser.OPEN_BRACE)
            self.state = 196
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 134479870) != 0):
                self.state = 186
                localctx._enumMember = self.enumMember()
                localctx.members.append(localctx._enumMember)
                self.state = 193
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==31:
                    self.state = 187
                    self.match(MfidlParser.COMMA)
                    self.state = 189
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 134479870) != 0):
                        self.state = 188
                        localctx._enumMember = self.enumMember()
                        localctx.members.append(localctx._enumMember)


                    self.state = 195
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



            self.state = 198
            self.match(MfidlParser.CLOSE)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EnumMemberContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.id_ = None # NameContext
            self.number = None # ValueContext
            self.after = list() # of AnnotationContexts

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def value(self):
            return self.getTypedRuleContext(MfidlParser.ValueContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_enumMember




    def enumMember(self):

        localctx = MfidlParser.EnumMemberContext(self, self._ctx, self.state)
        self.enterRule(localctx, 28, self.RULE_enumMember)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 203
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==27:
                self.state = 200
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 205
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 206
            localctx.id_ = self.name()
            self.state = 209
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==28:
                self.state = 207
                self.match(MfidlParser.ASSIGN)
                self.state = 208
                localctx.number = self.value()


            self.state = 214
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==27:
                self.state = 211
                localctx._annotation = self.annotation()
                localctx.after.append(localctx._annotation)
                self.state = 216
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StructBodyContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.opening = None # Token
            self._structMember = None # StructMemberContext
            self.members = list() # of StructMemberContexts

        def CLOSE(self):
            return self.getToken(MfidlParser.CLOSE, 0)

        def OPEN_BRACE(self):
            return self.getToken(MfidlParser.OPEN_BRACE, 0)

        def structMember(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.StructMemberContext)
            else:
                return self.getTypedRuleContext(MfidlParser.StructMemberContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_structBody




    def structBody(self):

        localctx = MfidlParser.StructBodyContext(self, self._ctx, self.state)
        self.enterRule(localctx, 30, self.RULE_structBody)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 217
            localctx.opening = self.match(MfidlParser.OPEN_BRACE)
            self.state = 221
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 141033470) != 0):
                self.state = 218
                localctx._structMember = self.structMember()
                localctx.members.append(localctx._structMember)
                self.state = 223
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 224
            self.match(MfidlParser.CLOSE)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StructMemberContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.number = None # IntegerContext
            self.id_ = None # NameContext
            self.of = None # TypeContext
            self.after = list() # of AnnotationContexts
            self.init = None # ValueContext
            self._reservedItem = None # ReservedItemContext
            self.reserved = list() # of ReservedItemContexts

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def COLON(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COLON)
            else:
                return self.getToken(MfidlParser.COLON, i)

        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def reservedItem(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ReservedItemContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ReservedItemContext,i)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def integer(self):
            return self.getTypedRuleContext(MfidlParser.IntegerContext,0)


        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def value(self):
            return self.getTypedRuleContext(MfidlParser.ValueContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_structMember




    def structMember(self):

        localctx = MfidlParser.StructMemberContext(self, self._ctx, self.state)
        self.enterRule(localctx, 32, self.RULE_structMember)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 229
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==27:
                self.state = 226
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 231
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 235
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 6553600) != 0):
                self.state = 232
                localctx.number = self.integer()
                self.state = 233
                self.match(MfidlParser.COLON)


            self.state = 237
            localctx.id_ = self.name()
            self.state = 264
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [30]:
                self.state = 238
                self.match(MfidlParser.COLON)
                self.state = 239
                localctx.of = self.type_()
                self.state = 243
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==27:
                    self.state = 240
                    localctx._annotation = self.annotation()
                    localctx.after.append(localctx._annotation)
                    self.state = 245
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 254
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==28:
                    self.state = 246
                    self.match(MfidlParser.ASSIGN)
                    self.state = 247
                    localctx.init = self.value()
                    self.state = 251
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==27:
                        self.state = 248
                        localctx._annotation = self.annotation()
                        localctx.after.append(localctx._annotation)
                        self.state = 253
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                pass
            elif token in [18, 21, 22, 23]:
                self.state = 256
                localctx._reservedItem = self.reservedItem()
                localctx.reserved.append(localctx._reservedItem)
                self.state = 261
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==31:
                    self.state = 257
                    self.match(MfidlParser.COMMA)
                    self.state = 258
                    localctx._reservedItem = self.reservedItem()
                    localctx.reserved.append(localctx._reservedItem)
                    self.state = 263
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            else:
                raise NoViableAltException(self)

            self.state = 266
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ReservedItemContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.text = None # Token
            self.low = None # IntegerContext
            self.high = None # IntegerContext

        def STRING(self):
            return self.getToken(MfidlParser.STRING, 0)

        def integer(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.IntegerContext)
            else:
                return self.getTypedRuleContext(MfidlParser.IntegerContext,i)


        def DOTS(self):
            return self.getToken(MfidlParser.DOTS, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_reservedItem




    def reservedItem(self):

        localctx = MfidlParser.ReservedItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 34, self.RULE_reservedItem)
        self._la = 0 # Token type
        try:
            self.state = 274
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [23]:
                self.enterOuterAlt(localctx, 1)
                self.state = 268
                localctx.text = self.match(MfidlParser.STRING)
                pass
            elif token in [18, 21, 22]:
                self.enterOuterAlt(localctx, 2)
                self.state = 269
                localctx.low = self.integer()
                self.state = 272
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==26:
                    self.state = 270
                    self.match(MfidlParser.DOTS)
                    self.state = 271
                    localctx.high = self.integer()


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


    class ServiceBodyContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.opening = None # Token
            self._method = None # MethodContext
            self.methods = list() # of MethodContexts

        def CLOSE(self):
            return self.getToken(MfidlParser.CLOSE, 0)

        def OPEN_BRACE(self):
            return self.getToken(MfidlParser.OPEN_BRACE, 0)

        def method(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.MethodContext)
            else:
                return self.getTypedRuleContext(MfidlParser.MethodContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_serviceBody




    def serviceBody(self):

        localctx = MfidlParser.ServiceBodyContext(self, self._ctx, self.state)
        self.enterRule(localctx, 36, self.RULE_serviceBody)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 276
            localctx.opening = self.match(MfidlParser.OPEN_BRACE)
            self.state = 280
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 134479870) != 0):
                self.state = 277
                localctx._method = self.method()
                localctx.methods.append(localctx._method)
                self.state = 282
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 283
            self.match(MfidlParser.CLOSE)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class MethodContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.id_ = None # NameContext
            self.params = None # FieldListContext
            self.arrow = None # Token
            self.results = None # FieldListContext
            self.of = None # TypeContext
            self.after = list() # of AnnotationContexts
            self._path = None # PathContext
            self.errors = list() # of PathContexts

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def fieldList(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.FieldListContext)
            else:
                return self.getTypedRuleContext(MfidlParser.FieldListContext,i)


        def THROWS(self):
            return self.getToken(MfidlParser.THROWS, 0)

        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def ARROW(self):
            return self.getToken(MfidlParser.ARROW, 0)

        def path(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.PathContext)
            else:
                return self.getTypedRuleContext(MfidlParser.PathContext,i)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_method




    def method(self):

        localctx = MfidlParser.MethodContext(self, self._ctx, self.state)
        self.enterRule(localctx, 38, self.RULE_method)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 288
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==27:
                self.state = 285
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 290
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 291
            localctx.id_ = self.name()
            self.state = 292
            localctx.params = self.fieldList()
            self.state = 304
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==25:
                self.state = 293
                localctx.arrow = self.match(MfidlParser.ARROW)
                self.state = 302
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [36]:
                    self.state = 294
                    localctx.results = self.fieldList()
                    pass
                elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]:
                    self.state = 295
                    localctx.of = self.type_()
                    self.state = 299
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==27:
                        self.state = 296
                        localctx._annotation = self.annotation()
                        localctx.after.append(localctx._annotation)
                        self.state = 301
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)



            self.state = 315
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==13:
                self.state = 306
                self.match(MfidlParser.THROWS)
                self.state = 307
                localctx._path = self.path()
                localctx.errors.append(localctx._path)
                self.state = 312
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==31:
                    self.state = 308
                    self.match(MfidlParser.COMMA)
                    self.state = 309
                    localctx._path = self.path()
                    localctx.errors.append(localctx._path)
                    self.state = 314
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



            self.state = 317
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FieldListContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.opening = None # Token
            self._field = None # FieldContext
            self.fields = list() # of FieldContexts

        def RPAREN(self):
            return self.getToken(MfidlParser.RPAREN, 0)

        def LPAREN(self):
            return self.getToken(MfidlParser.LPAREN, 0)

        def field(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.FieldContext)
            else:
                return self.getTypedRuleContext(MfidlParser.FieldContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_fieldList




    def fieldList(self):

        localctx = MfidlParser.FieldListContext(self, self._ctx, self.state)
        self.enterRule(localctx, 40, self.RULE_fieldList)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 319
            localctx.opening = self.match(MfidlParser.LPAREN)
            self.state = 330
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 141033470) != 0):
                self.state = 320
                localctx._field = self.field()
                localctx.fields.append(localctx._field)
                self.state = 327
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==31:
                    self.state = 321
                    self.match(MfidlParser.COMMA)
                    self.state = 323
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 141033470) != 0):
                        self.state = 322
                        localctx._field = self.field()
                        localctx.fields.append(localctx._field)


                    self.state = 329
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



            self.state = 332
            self.match(MfidlParser.RPAREN)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FieldContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.number = None # IntegerContext
            self.id_ = None # NameContext
            self.of = None # TypeContext
            self.after = list() # of AnnotationContexts
            self.init = None # ValueContext

        def COLON(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COLON)
            else:
                return self.getToken(MfidlParser.COLON, i)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def integer(self):
            return self.getTypedRuleContext(MfidlParser.IntegerContext,0)


        def value(self):
            return self.getTypedRuleContext(MfidlParser.ValueContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_field




    def field(self):

        localctx = MfidlParser.FieldContext(self, self._ctx, self.state)
        self.enterRule(localctx, 42, self.RULE_field)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 337
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==27:
                self.state = 334
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 339
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 343
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 6553600) != 0):
                self.state = 340
                localctx.number = self.integer()
                self.state = 341
                self.match(MfidlParser.COLON)


            self.state = 345
            localctx.id_ = self.name()
            self.state = 346
            self.match(MfidlParser.COLON)
            self.state = 347
            localctx.of = self.type_()
            self.state = 351
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==27:
                self.state = 348
                localctx._annotation = self.annotation()
                localctx.after.append(localctx._annotation)
                self.state = 353
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 362
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==28:
                self.state = 354
                self.match(MfidlParser.ASSIGN)
                self.state = 355
                localctx.init = self.value()
                self.state = 359
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==27:
                    self.state = 356
                    localctx._annotation = self.annotation()
                    localctx.after.append(localctx._annotation)
                    self.state = 361
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



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
            self.id_ = None # PathContext
            self._typeArgument = None # TypeArgumentContext
            self.arguments = list() # of TypeArgumentContexts
            self._QUESTION = None # Token
            self.optional = list() # of Tokens

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def LESS(self):
            return self.getToken(MfidlParser.LESS, 0)

        def GREATER(self):
            return self.getToken(MfidlParser.GREATER, 0)

        def typeArgument(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.TypeArgumentContext)
            else:
                return self.getTypedRuleContext(MfidlParser.TypeArgumentContext,i)


        def QUESTION(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.QUESTION)
            else:
                return self.getToken(MfidlParser.QUESTION, i)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_type




    def type_(self):

        localctx = MfidlParser.TypeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 44, self.RULE_type)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 364
            localctx.id_ = self.path()
            self.state = 376
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==35:
                self.state = 365
                self.match(MfidlParser.LESS)
                self.state = 366
                localctx._typeArgument = self.typeArgument()
                localctx.arguments.append(localctx._typeArgument)
                self.state = 371
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==31:
                    self.state = 367
                    self.match(MfidlParser.COMMA)
                    self.state = 368
                    localctx._typeArgument = self.typeArgument()
                    localctx.arguments.append(localctx._typeArgument)
                    self.state = 373
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 374
                self.match(MfidlParser.GREATER)


            self.state = 381
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==39:
                self.state = 378
                localctx._QUESTION = self.match(MfidlParser.QUESTION)
                localctx.optional.append(localctx._QUESTION)
                self.state = 383
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TypeArgumentContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of = None # TypeContext
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.number = None # IntegerContext

        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def integer(self):
            return self.getTypedRuleContext(MfidlParser.IntegerContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_typeArgument




    def typeArgument(self):

        localctx = MfidlParser.TypeArgumentContext(self, self._ctx, self.state)
        self.enterRule(localctx, 46, self.RULE_typeArgument)
        self._la = 0 # Token type
        try:
            self.state = 392
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]:
                self.enterOuterAlt(localctx, 1)
                self.state = 384
                localctx.of = self.type_()
                self.state = 388
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==27:
                    self.state = 385
                    localctx._annotation = self.annotation()
                    localctx.annotations.append(localctx._annotation)
                    self.state = 390
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [18, 21, 22]:
                self.enterOuterAlt(localctx, 2)
                self.state = 391
                localctx.number = self.integer()
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


    class AnnotationContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # PathContext
            self.opening = None # Token
            self._argument = None # ArgumentContext
            self.arguments = list() # of ArgumentContexts

        def AT(self):
            return self.getToken(MfidlParser.AT, 0)

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def RPAREN(self):
            return self.getToken(MfidlParser.RPAREN, 0)

        def LPAREN(self):
            return self.getToken(MfidlParser.LPAREN, 0)

        def argument(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ArgumentContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ArgumentContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_annotation




    def annotation(self):

        localctx = MfidlParser.AnnotationContext(self, self._ctx, self.state)
        self.enterRule(localctx, 48, self.RULE_annotation)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 394
            self.match(MfidlParser.AT)
            self.state = 395
            localctx.id_ = self.path()
            self.state = 410
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==36:
                self.state = 396
                localctx.opening = self.match(MfidlParser.LPAREN)
                self.state = 407
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 429597392894) != 0):
                    self.state = 397
                    localctx._argument = self.argument()
                    localctx.arguments.append(localctx._argument)
                    self.state = 404
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==31:
                        self.state = 398
                        self.match(MfidlParser.COMMA)
                        self.state = 400
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        if (((_la) & ~0x3f) == 0 and ((1 << _la) & 429597392894) != 0):
                            self.state = 399
                            localctx._argument = self.argument()
                            localctx.arguments.append(localctx._argument)


                        self.state = 406
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 409
                self.match(MfidlParser.RPAREN)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ArgumentContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.left = None # ValueContext
            self.right = None # ValueContext
            self.dots = None # Token

        def value(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ValueContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ValueContext,i)


        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def DOTS(self):
            return self.getToken(MfidlParser.DOTS, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_argument




    def argument(self):

        localctx = MfidlParser.ArgumentContext(self, self._ctx, self.state)
        self.enterRule(localctx, 50, self.RULE_argument)
        self._la = 0 # Token type
        try:
            self.state = 423
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 34, 37, 38]:
                self.enterOuterAlt(localctx, 1)
                self.state = 412
                localctx.left = self.value()
                self.state = 419
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [28]:
                    self.state = 413
                    self.match(MfidlParser.ASSIGN)
                    self.state = 414
                    localctx.right = self.value()
                    pass
                elif token in [26]:
                    self.state = 415
                    localctx.dots = self.match(MfidlParser.DOTS)
                    self.state = 417
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 429530284030) != 0):
                        self.state = 416
                        localctx.right = self.value()


                    pass
                elif token in [31, 41]:
                    pass
                else:
                    pass
                pass
            elif token in [26]:
                self.enterOuterAlt(localctx, 2)
                self.state = 421
                localctx.dots = self.match(MfidlParser.DOTS)
                self.state = 422
                localctx.right = self.value()
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


    class ValueContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.minus = None # Token
            self.number = None # Token
            self.id_ = None # PathContext
            self.text = None # Token
            self.list_ = None # Token
            self._value = None # ValueContext
            self.elements = list() # of ValueContexts
            self.brace = None # Token
            self._entry = None # EntryContext
            self.entries = list() # of EntryContexts

        def MINUS(self):
            return self.getToken(MfidlParser.MINUS, 0)

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def INTEGER(self):
            return self.getToken(MfidlParser.INTEGER, 0)

        def HEX(self):
            return self.getToken(MfidlParser.HEX, 0)

        def FLOAT(self):
            return self.getToken(MfidlParser.FLOAT, 0)

        def DURATION(self):
            return self.getToken(MfidlParser.DURATION, 0)

        def BAD_NUMBER(self):
            return self.getToken(MfidlParser.BAD_NUMBER, 0)

        def STRING(self):
            return self.getToken(MfidlParser.STRING, 0)

        def BAD_STRING(self):
            return self.getToken(MfidlParser.BAD_STRING, 0)

        def RBRACKET(self):
            return self.getToken(MfidlParser.RBRACKET, 0)

        def LBRACKET(self):
            return self.getToken(MfidlParser.LBRACKET, 0)

        def value(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ValueContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ValueContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def CLOSE(self):
            return self.getToken(MfidlParser.CLOSE, 0)

        def OPEN_BRACE(self):
            return self.getToken(MfidlParser.OPEN_BRACE, 0)

        def entry(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.EntryContext)
            else:
                return self.getTypedRuleContext(MfidlParser.EntryContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_value




    def value(self):

        localctx = MfidlParser.ValueContext(self, self._ctx, self.state)
        self.enterRule(localctx, 52, self.RULE_value)
        self._la = 0 # Token type
        try:
            self.state = 461
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [37]:
                self.enterOuterAlt(localctx, 1)
                self.state = 425
                localctx.minus = self.match(MfidlParser.MINUS)
                self.state = 428
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [18, 19, 20, 21, 22]:
                    self.state = 426
                    localctx.number = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 8126464) != 0)):
                        localctx.number = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    pass
                elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]:
                    self.state = 427
                    localctx.id_ = self.path()
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [18, 19, 20, 21, 22]:
                self.enterOuterAlt(localctx, 2)
                self.state = 430
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 8126464) != 0)):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [23, 24]:
                self.enterOuterAlt(localctx, 3)
                self.state = 431
                localctx.text = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==23 or _la==24):
                    localctx.text = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]:
                self.enterOuterAlt(localctx, 4)
                self.state = 432
                localctx.id_ = self.path()
                pass
            elif token in [34]:
                self.enterOuterAlt(localctx, 5)
                self.state = 433
                localctx.list_ = self.match(MfidlParser.LBRACKET)
                self.state = 444
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 429530284030) != 0):
                    self.state = 434
                    localctx._value = self.value()
                    localctx.elements.append(localctx._value)
                    self.state = 441
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==31:
                        self.state = 435
                        self.match(MfidlParser.COMMA)
                        self.state = 437
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        if (((_la) & ~0x3f) == 0 and ((1 << _la) & 429530284030) != 0):
                            self.state = 436
                            localctx._value = self.value()
                            localctx.elements.append(localctx._value)


                        self.state = 443
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 446
                self.match(MfidlParser.RBRACKET)
                pass
            elif token in [38]:
                self.enterOuterAlt(localctx, 6)
                self.state = 447
                localctx.brace = self.match(MfidlParser.OPEN_BRACE)
                self.state = 458
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 429530284030) != 0):
                    self.state = 448
                    localctx._entry = self.entry()
                    localctx.entries.append(localctx._entry)
                    self.state = 455
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==31:
                        self.state = 449
                        self.match(MfidlParser.COMMA)
                        self.state = 451
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        if (((_la) & ~0x3f) == 0 and ((1 << _la) & 429530284030) != 0):
                            self.state = 450
                            localctx._entry = self.entry()
                            localctx.entries.append(localctx._entry)


                        self.state = 457
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 460
                self.match(MfidlParser.CLOSE)
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


    class EntryContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.key = None # ValueContext
            self.held = None # ValueContext

        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def value(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ValueContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ValueContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_entry




    def entry(self):

        localctx = MfidlParser.EntryContext(self, self._ctx, self.state)
        self.enterRule(localctx, 54, self.RULE_entry)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 463
            localctx.key = self.value()
            self.state = 464
            self.match(MfidlParser.COLON)
            self.state = 465
            localctx.held = self.value()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class IntegerContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.token = None # Token

        def INTEGER(self):
            return self.getToken(MfidlParser.INTEGER, 0)

        def HEX(self):
            return self.getToken(MfidlParser.HEX, 0)

        def BAD_NUMBER(self):
            return self.getToken(MfidlParser.BAD_NUMBER, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_integer




    def integer(self):

        localctx = MfidlParser.IntegerContext(self, self._ctx, self.state)
        self.enterRule(localctx, 56, self.RULE_integer)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 467
            localctx.token = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 6553600) != 0)):
                localctx.token = self._errHandler.recoverInline(self)
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


    class PathContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._name = None # NameContext
            self.parts = list() # of NameContexts

        def name(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.NameContext)
            else:
                return self.getTypedRuleContext(MfidlParser.NameContext,i)


        def DOT(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.DOT)
            else:
                return self.getToken(MfidlParser.DOT, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_path




    def path(self):

        localctx = MfidlParser.PathContext(self, self._ctx, self.state)
        self.enterRule(localctx, 58, self.RULE_path)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 469
            localctx._name = self.name()
            localctx.parts.append(localctx._name)
            self.state = 474
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==32:
                self.state = 470
                self.match(MfidlParser.DOT)
                self.state = 471
                localctx._name = self.name()
                localctx.parts.append(localctx._name)
                self.state = 476
                self._errHandler.sync(self)
                _la = self._input.LA(1)

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
            self.token = None # Token

        def NAME(self):
            return self.getToken(MfidlParser.NAME, 0)

        def AGENT(self):
            return self.getToken(MfidlParser.AGENT, 0)

        def AS(self):
            return self.getToken(MfidlParser.AS, 0)

        def CONST(self):
            return self.getToken(MfidlParser.CONST, 0)

        def ENUM(self):
            return self.getToken(MfidlParser.ENUM, 0)

        def ERROR(self):
            return self.getToken(MfidlParser.ERROR, 0)

        def FLAGS(self):
            return self.getToken(MfidlParser.FLAGS, 0)

        def IMPORT(self):
            return self.getToken(MfidlParser.IMPORT, 0)

        def MODULE(self):
            return self.getToken(MfidlParser.MODULE, 0)

        def OPEN(self):
            return self.getToken(MfidlParser.OPEN, 0)

        def PER(self):
            return self.getToken(MfidlParser.PER, 0)

        def SERVICE(self):
            return self.getToken(MfidlParser.SERVICE, 0)

        def STRUCT(self):
            return self.getToken(MfidlParser.STRUCT, 0)

        def THROWS(self):
            return self.getToken(MfidlParser.THROWS, 0)

        def TOPIC(self):
            return self.getToken(MfidlParser.TOPIC, 0)

        def TYPE(self):
            return self.getToken(MfidlParser.TYPE, 0)

        def UNION(self):
            return self.getToken(MfidlParser.UNION, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_name




    def name(self):

        localctx = MfidlParser.NameContext(self, self._ctx, self.state)
        self.enterRule(localctx, 60, self.RULE_name)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 477
            localctx.token = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 262142) != 0)):
                localctx.token = self._errHandler.recoverInline(self)
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





