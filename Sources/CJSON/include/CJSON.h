#ifndef CJSON_h
#define CJSON_h
#endif
